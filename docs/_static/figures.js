// Draws the figures of a page from the data that stand in it, in the theme of the page; in the gallery also small.
document.addEventListener("DOMContentLoaded", () => {
  const places = [...document.querySelectorAll("div.figure")].flatMap((element) => {
    const [light, dark] = [...element.querySelectorAll("script")].map((script) => script.textContent);
    element.replaceChildren();
    const thumb = element.closest("details.card")?.querySelector("div.thumb");
    const full = { element, light, dark, near: false };
    return thumb ? [full, { ...full, element: thumb, small: true }] : [full];
  });
  const system = matchMedia("(prefers-color-scheme: dark)");
  const scheme = () => {
    const chosen = document.body.dataset.theme;
    return chosen === "dark" || (chosen !== "light" && system.matches) ? "dark" : "light";
  };
  const draw = (place) => {
    if (!place.near || place.drawn === scheme()) return;
    place.drawn = scheme();
    const figure = JSON.parse(place[place.drawn]);
    const layout = { ...figure.layout, autosize: true, width: undefined, paper_bgcolor: "rgba(0,0,0,0)" };
    if (!place.small) {
      Plotly.newPlot(place.element, figure.data, layout, { responsive: true, displayModeBar: false });
      return;
    }
    const inner = document.createElement("div");
    inner.style.transform = `scale(${place.element.clientWidth / 560})`;
    place.element.replaceChildren(inner);
    Plotly.newPlot(inner, figure.data, { ...layout, width: 560 }, { staticPlot: true });
  };
  const drawAll = () => places.forEach(draw);
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const place = places.find((one) => one.element === entry.target);
      place.near ||= entry.isIntersecting;
      draw(place);
    }
  }, { rootMargin: "400px" });
  places.forEach((place) => watcher.observe(place.element));
  new MutationObserver(drawAll).observe(document.body, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", drawAll);
});
