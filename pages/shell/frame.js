// The server cannot see the width of a window. This reports it, and only when it is not what the server assumed, so
// that a page of usual width costs no second run.

let page;
export default function ({ data, setStateValue }) {
  const query = window.matchMedia(`(max-width: ${data.px}px)`);
  const tell = () => { if (query.matches !== data.narrow) setStateValue("narrow", query.matches); };
  tell();
  // The keyboard comes to what is in the page, not to the page itself; a table, which is a drawing, has a name.
  const main = document.querySelector('[data-testid="stMain"]');
  Object.assign(main, { ariaLabel: "Page", tabIndex: -1 });
  const name = () => main.querySelectorAll(".stDataFrame canvas").forEach((table) => { table.ariaLabel = "Table"; });
  const drawn = new MutationObserver(name);
  drawn.observe(main, { childList: true, subtree: true });
  name();
  const picture = ({ target }) => { // who saves a chart gets its title, too, which on the page is a heading
    const chart = target.closest('.modebar-btn[data-title*="PNG"]')?.closest(".js-plotly-plot"), shown = chart?.layout;
    if (!shown?.meta?.picture) return;
    const size = { height: shown.meta.picture.height, width: chart.clientWidth };
    Object.assign(chart._context.toImageButtonOptions, size);
    chart.layout = { ...shown, ...shown.meta.picture };
    setTimeout(() => { chart.layout = shown; });
  };
  main.addEventListener("click", picture, true);
  const button = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
  if (query.matches && page && page !== data.page && button) button.click(); // a phone's drawer covers the page chosen
  page = data.page;
  query.addEventListener("change", tell);
  return () => {
    query.removeEventListener("change", tell);
    main.removeEventListener("click", picture, true);
    drawn.disconnect();
  };
}
