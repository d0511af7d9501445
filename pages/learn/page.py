"""Learn: the article that also opens without a server, in the colours of the app; `scene` opens one of its scenes."""

from urllib.parse import urlencode

import streamlit as st

from pages.shell.guard import ARTICLE

# What addresses call the scene, and called it when the page had six steps. A text that stands alone would be shown.
SCENE, OLD_STEP = "scene", "teach_step"
# The scene that took the place of a step, by its number.
_SCENES = {"1": "2", "2": "3", "3": "5", "4": "4b", "5": "6", "6": "7"}

_HTML = "<h1>Learn: what neighbours know</h1><iframe></iframe>"
# The article scrolls by itself and reaches the end of the window, over the room that Streamlit leaves beside and below
# a page. Its background is the app's, and a change of colours is noticed by the transition that it starts.
_CSS = """
:host { display: block }
h1 { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%) }
iframe { display: block; width: 100%; height: 80dvh; border: 0; margin-bottom: -1.5rem;
  background-color: var(--st-background-color); transition: background-color 1ms }
"""
# Another run of the script leaves a reader where they are.
_SCRIPT = """
export default function ({ data, parentElement }) {
  const frame = parentElement.querySelector("iframe");
  const theme = () => {
    const [red, green, blue] = getComputedStyle(frame).backgroundColor.match(/[0-9.]+/g).map(Number);
    return red + green + blue < 384 ? "dark" : "light";
  };
  const dress = () => { frame.contentDocument.documentElement.dataset.theme = theme(); };
  const fill = () => {
    const { left, top } = frame.getBoundingClientRect();
    frame.style.height = `${Math.max(320, innerHeight - top - 4)}px`;
    frame.style.width = `${innerWidth - left}px`;
  };
  fill();
  addEventListener("resize", fill);
  const above = new ResizeObserver(fill); // on phones a row of buttons comes above it
  above.observe(document.querySelector('[data-testid="stMainBlockContainer"]') || document.body);
  frame.addEventListener("transitionend", dress);
  frame.title = "What neighbours know, an article in eight scenes";
  frame.onload = () => {
    const { fonts, head } = frame.contentDocument, style = document.createElement("style");
    const faces = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule instanceof CSSFontFaceRule && rule.cssText.includes('"Source Sans"'));
    const base = ({ parentStyleSheet }) => new URL(".", parentStyleSheet.href || location.href).href;
    style.textContent = faces.map((rule) => rule.cssText.replace('url("', `url("${base(rule)}`)).join("");
    head.append(style);
    dress();
    fonts.ready.then(dress); // the words beside the digit are drawn again
  };
  if (!frame.src) frame.src = `${data.address}?theme=${theme()}${data.scene}`;
  return () => {
    above.disconnect();
    removeEventListener("resize", fill);
    frame.removeEventListener("transitionend", dress);
  };
}
"""

scene = st.query_params.get(SCENE) or _SCENES.get(st.query_params.get(OLD_STEP, "")[:1], "")
frame = st.components.v2.component("article", html=_HTML, css=_CSS, js=_SCRIPT)
frame(key="article", data={"address": ARTICLE, "scene": f"&{urlencode({SCENE: scene})}" if scene else ""})
