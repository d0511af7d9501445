"""Take the pictures of README: the first page, light and dark, and the digit that turns as a loop."""

import io

from PIL import Image
from playwright.sync_api import expect, sync_playwright

from tests.app.conftest import CHROMIUM_FLAGS, ROOT, chromium_path, running_server

FOLDER, FRAMES = ROOT / "data" / "screenshots", 48
SET = "(one, share) => { one.value = share * one.max; one.dispatchEvent(new Event('input')); }"


def main() -> None:
    """Take the pictures."""
    expect.set_options(timeout=180_000)
    with running_server() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_FLAGS)
        for scheme in ("dark", "light"):
            page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme=scheme)
            page.goto(url)
            card = page.get_by_role("group", name="Sixes and nines that turn")
            expect(card).to_be_visible()
            expect(page.get_by_role("heading", name="What to do")).to_be_visible()
            expect(page.get_by_role("radio", name="Recommended")).to_be_visible()
            expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
            expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
            shot = Image.open(io.BytesIO(page.screenshot()))
            shot.quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"result_{scheme}.png", optimize=True)
        frames = []
        for frame in range(FRAMES + 1):
            card.locator("[name=task]").evaluate(SET, frame / FRAMES)
            page.wait_for_timeout(300)  # bars glide
            frames.append(Image.open(io.BytesIO(card.screenshot())).convert("RGB"))
        told = {"append_images": frames[1:], "duration": [150] * FRAMES + [2500], "loop": 0, "quality": 70}
        frames[0].save(FOLDER / "landing.webp", save_all=True, **told)


if __name__ == "__main__":
    main()
