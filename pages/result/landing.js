// Sixes and nines that turn: every number is read from the shipped grid, nothing is asked of the server.

const RULES = {
  single: ["alone", "Alone"],
  pooled: ["pooled", "Pooled"],
  forward: ["forward", "Forward"],
  forward_backward: ["both", "Forward and backward"],
};
const NAMES = Object.keys(RULES);
const FULL = { 0: "not at all", 90: "a quarter turn", 180: "half a turn", 360: "a full circle", 720: "two turns" };
const NEAR = 0.01; // what the best may surely lose less than
const SECONDS = 9; // of Play
const SHOWN = 0; // picture that is large

const inHundred = (share, digits = 1) => (100 * share).toFixed(digits).replace("-", "−");
const called = (name) => RULES[name][1].toLowerCase();
const listed = (words, last) => (words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")}${words.length > 2 ? "," : ""} ${last} ${words.at(-1)}`);
const within = (low, value, high) => Math.min(Math.max(value, low), high);
const element = (tag, name, ...parts) => { const made = document.createElement(tag); made.className = name; made.append(...parts); return made; };
const write = (place, text) => { if (place.innerHTML !== text) place.innerHTML = text; };

/** Addresses of the pictures: 8 x 8 pixels of four bits each with a margin of one, as ink to shine through. */
function masks(packed) {
  const bytes = atob(packed), canvas = document.createElement("canvas"), context = canvas.getContext("2d");
  canvas.width = canvas.height = 10;
  return Array.from({ length: bytes.length / 32 }, (_, picture) => {
    const image = context.createImageData(10, 10);
    for (let i = 0; i < 64; i++) {
      const two = bytes.charCodeAt(picture * 32 + (i >> 1));
      image.data[4 * ((1 + (i >> 3)) * 10 + 1 + (i % 8)) + 3] = 17 * (i % 2 ? two & 15 : two >> 4);
    }
    context.putImageData(image, 0, 0);
    return `url(${canvas.toDataURL()})`;
  });
}

/** Which is the best over all steps at one setting, and by how much; the run below has one deal and so other numbers. */
const verdict = (cell, number) => `Fewest errors over all steps with ${number} labels: <b>${called(cell.best)}</b>, <b>${inHundred(cell[cell.best].overall[0])}</b> in 100.`;
function gaps(cell) {
  const others = NAMES.filter((name) => name !== cell.best).sort((one, two) => cell[one].above_best[0] - cell[two].above_best[0]);
  const told = others.map((name, i) => {
    const [more, low, high] = cell[name].above_best;
    return `${called(name)} ${i ? "" : "makes "}${inHundred(more)} more (${i ? "" : "95 % interval "}${inHundred(low)} to ${inHundred(high)}${low > 0 ? "" : ", which may be noise"})`;
  });
  return `In 100, ${listed(told, "and")}.`;
}

/** Strategies that are the best at a setting, or nearly: what they lose may be noise, or is surely below 1 in 100. */
const winners = (cell) => NAMES.filter((name) => name === cell.best || cell[name].above_best[1] <= 0 || cell[name].above_best[2] < NEAR);

/** Who wins where, settings with the same winners together. */
function whoWins(cells, turns, labels) {
  const found = new Map();
  for (const turn of turns) {
    const names = listed(winners(cells[`${turn},${labels}`]).map(called), "or");
    found.set(names, [...(found.get(names) || []), `${turn}°`]);
  }
  return [...found].map(([names, at]) => `${names} at ${listed(at, "and")}`).join("; ");
}

/** Why it is so, where the numbers bear it out. */
function reason(cells, turn, labels) {
  const cell = cells[`${turn},${labels}`], pooled = cell.pooled.above_best;
  const saved = (at) => { const one = cells[`${at},${labels}`]; return 1 - one.forward_backward.overall[0] / one.single.overall[0]; };
  const share = (value) => (value < 0.005 ? "none" : `${Math.round(100 * value)} %`);
  const fails = pooled !== null && pooled[1] > NEAR, near = pooled === null || pooled[2] < NEAR;
  if (turn < 180 && near) return "What was right for the first task stays right, so pooling is hard to beat.";
  if (turn === 180 && near) return "Only the last sixes look like the first nines, so pooling is nearly as good, and simpler.";
  if (turn === 360 && fails) return "Old sixes look like new nines: one rule for all fails.";
  if (turn === 720 && saved(720) < saved(360)) return `At two turns help shrinks: forward and backward saves ${share(saved(720))} of the errors made alone, at a full circle ${share(saved(360))}.`;
  return "";
}

/** Build everything once; returns what a key does, and what ends Play. */
function build(root, data) {
  const find = (what) => root.querySelector(what), all = (what) => [...root.querySelectorAll(what)];
  const settings = Object.keys(data.cells).map((key) => key.split(",").map(Number));
  const [turns, labels] = [0, 1].map((i) => [...new Set(settings.map((one) => one[i]))].sort((one, two) => one - two));
  const tasks = data.cells[Object.keys(data.cells)[0]].single.mean.length, spread = data.t95;
  const highest = Math.max(...Object.values(data.cells).flatMap((cell) => NAMES.flatMap((name) => cell[name].mean.map((mean, j) => mean + spread * cell[name].stderr[j]))));
  const still = matchMedia("(prefers-reduced-motion: reduce)"), pictures = masks(data.pictures), half = pictures.length / 2;
  const state = { at: tasks, turn: turns.indexOf(360), labels: labels.indexOf(4) };
  const inputs = { at: find("[name=task]"), turn: find("[name=turn]"), labels: find("[name=labels]") };
  const [button, large, strip] = [find("button"), find(".dial .ink"), find(".strip")];
  const ink = (place, picture) => { place.style.maskImage = place.style.webkitMaskImage = pictures[picture]; };

  ink(large, SHOWN);
  const rows = NAMES.map((name) => {
    const [colour, title] = RULES[name], bar = element("div", "bar"), interval = element("div", "interval"), value = element("span", "value");
    bar.style.background = `var(--${colour})`;
    const row = element("li", "", element("span", "name", title), element("div", "track", bar, interval), value);
    find("ul").append(row);
    return { name, row, bar, interval, value };
  });
  for (let tick = 0; tick <= highest; tick += 0.1) {
    const mark = element("i", "", inHundred(tick, 0));
    mark.style.left = `${(100 * tick) / highest}%`;
    find(".axis div").append(mark);
  }
  const tiles = Array.from({ length: tasks }, (_, j) => {
    const picture = element("div", "ink"), tile = element("div", "", picture);
    ink(picture, (SHOWN + 5 * j) % half); // of each task a six
    tile.onclick = () => { stop(); change({ at: j + 0.5 }); };
    strip.append(tile);
    return tile;
  });
  const ticks = { turn: turns.map((turn) => `${turn}°`), labels: labels.map(String) };
  for (const key of ["turn", "labels"]) {
    inputs[key].max = ticks[key].length - 1;
    ticks[key].forEach((text, i) => {
      const mark = element("span", "", text, ...(key === "turn" ? [element("span", "dots")] : []));
      mark.style.left = `${(100 * i) / (ticks[key].length - 1)}%`;
      inputs[key].nextElementSibling.append(mark);
    });
  }
  inputs.at.max = tasks;

  let frame = 0, last = 0;
  const stop = () => { cancelAnimationFrame(frame); frame = 0; write(button, "Play"); };
  function play() {
    if (frame) { stop(); return; }
    if (state.at >= tasks) change({ at: 0 });
    last = performance.now();
    write(button, "Pause");
    const step = (now) => {
      frame = requestAnimationFrame(step);
      const passed = (now - last) / (1000 * SECONDS);
      if (still.matches && passed < 1 / tasks) return; // without motion, one task after the other
      last = now;
      change({ at: Math.min(tasks, state.at + tasks * Math.min(passed, 2 / tasks)) });
      if (state.at >= tasks) stop();
    };
    frame = requestAnimationFrame(step);
  }

  function change(values) { Object.assign(state, values); draw(); }
  function draw() {
    const turn = turns[state.turn], number = labels[state.labels], cell = data.cells[`${turn},${number}`];
    const task = Math.min(tasks, Math.floor(state.at) + 1), degrees = (state.at * turn) / tasks, round = Math.round(degrees);
    const away = Math.abs((((degrees % 360) + 360) % 360) - 180);
    const looks = away <= 45 ? "a 6 that looks like a 9" : away < 135 ? "a 6 on its side" : "a 6, upright";
    large.style.transform = `rotate(${-degrees}deg)`;
    find("circle + circle").style.strokeDasharray = `${Math.min(degrees, 360)} 360`;
    find("circle + circle").style.opacity = degrees > 0 ? 1 : 0;
    find(".dial").setAttribute("aria-label", `A handwritten 6, turned by ${round} degrees`);
    write(find(".told"), `<b>Task ${task} of ${tasks}</b> · ${round}°<span>${looks}</span>`);
    tiles.forEach((tile, j) => {
      tile.className = `${j < task ? "seen" : ""}${j === task - 1 ? " now" : ""}`;
      tile.firstChild.style.transform = `rotate(${(-(j + 0.5) * turn) / tasks}deg)`;
    });
    const least = Math.min(...NAMES.map((name) => cell[name].mean[task - 1]));
    for (const { name, row, bar, interval, value } of rows) {
      const mean = cell[name].mean[task - 1], wide = spread * cell[name].stderr[task - 1], low = Math.max(0, mean - wide);
      bar.style.transform = `scaleX(${mean / highest})`;
      interval.style.left = `${(100 * low) / highest}%`;
      interval.style.width = `${(100 * (mean + wide - low)) / highest}%`;
      row.className = mean === least ? "best" : "";
      write(value, inHundred(mean));
      row.title = `${RULES[name][1]}: ${inHundred(mean)} errors in 100, 95 % interval ${inHundred(low)} to ${inHundred(mean + wide)}`;
    }
    turns.forEach((one, i) => {
      const found = winners(data.cells[`${one},${number}`]), place = inputs.turn.nextElementSibling.children[i].lastChild;
      write(place, found.map((name) => `<i style="background: var(--${RULES[name][0]})"></i>`).join(""));
    });
    const said = { at: `Task ${task} of ${tasks}, ${round} degrees`, turn: `${turn}°, ${FULL[turn]}`, labels: String(number) };
    for (const [key, input] of Object.entries(inputs)) {
      if (Number(input.value) !== state[key]) input.value = state[key];
      input.setAttribute("aria-valuetext", said[key]);
      input.style.setProperty("--share", `${(100 * state[key]) / input.max}%`);
      if (key !== "at") write(input.previousElementSibling, said[key]);
    }
    write(find(".verdict"), `${verdict(cell, number)} ${reason(data.cells, turn, number)}`);
    write(find(".where"), `${gaps(cell)} Best, or nearly, with ${number} labels (the dots): ${whoWins(data.cells, turns, number)}.`);
  }
  write(find(".how"), `We chose a full circle because one rule for all must fail there. At half a turn pooling is a strong rival: try both. The ${data.images} sixes and nines are real. Each task has ${data.images_a_task}, of which ${data.tested_a_task} are for testing: ${tasks * data.tested_a_task} test pictures. The row above shows one six of each task. Each of ${data.repetitions} repetitions deals pictures and labels anew. All four use one learner (preset ${data.preset}, b = ${data.b}). Below, pictures are dealt once, and your settings count.`);

  for (const [key, input] of Object.entries(inputs)) input.addEventListener("input", () => { if (key === "at") stop(); change({ [key]: Number(input.value) }); });
  inputs.at.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    stop();
    change({ at: within(0, Math.round(state.at) + by, tasks) });
  });
  button.addEventListener("click", play);
  const space = (event) => {
    const at = event.composedPath()[0], box = root.getBoundingClientRect();
    if (event.key !== " " || event.ctrlKey || event.metaKey || event.altKey || at === button) return;
    if (!root.contains(at) && (at !== document.body || box.bottom < 0 || box.top > innerHeight)) return;
    event.preventDefault();
    play();
  };
  draw();
  const follow = (n) => { if (labels.includes(n)) change({ labels: labels.indexOf(n) }); };
  return { space, stop, follow };
}

// Another run of the script leaves a visitor where they are; another n of the sidebar is shown where it was measured.
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".landing");
  const { space, stop, follow } = (root.built ??= build(root, data));
  if (root.n !== data.n) follow((root.n = data.n));
  document.addEventListener("keydown", space);
  return () => { stop(); document.removeEventListener("keydown", space); };
}
