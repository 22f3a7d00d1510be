// What the page does beside its pictures: the figures of the stack, and one picture large.

const { BusImage } = await import(document.querySelector('script[src$="bus-image.js"]').src);
const byID = (id) => document.getElementById(id);

// MARK: - Captions

const bytes = (count) =>
  count < 1e6 ? `${Math.round(count / 1e3)} KB` : `${(count / 1e6).toFixed(1)} MB`;
const time = (seconds) =>
  seconds < 1 ? `${Math.round(seconds * 1e3)} ms` : `${seconds.toFixed(1)} s`;

/** None of these events bubbles, so they are captured. */
function caption(type, text) {
  document.addEventListener(type, (event) => {
    if (!(event.target instanceof BusImage)) return;
    event.target.parentElement.querySelector("output").textContent = text(event.detail);
  }, true);
}
caption("loadstart", () => "");
caption("abort", () => "");
caption("load", ({ bytes: count, seconds, cached }) =>
  `${bytes(count ?? 0)} ${cached ? "from this browser" : `in ${time(seconds)}`}`);
caption("error", ({ status }) => (status ? `Status ${status}` : "No answer"));
caption("retry", ({ seconds }) => `Again in ${Math.ceil(seconds)} s`);

// MARK: - One picture large

const dialog = byID("large");
const large = dialog.querySelector("bus-image");

function show(tile) {
  const image = tile.querySelector("bus-image");
  const link = tile.querySelector("a");
  Object.assign(large, {
    src: link.href, alt: image.alt, thumbhash: image.thumbhash, color: image.color,
  });
  byID("large-title").textContent = link.textContent;
  dialog.showModal();
}

byID("tiles").addEventListener("click", (event) => {
  const tile = event.target.closest(".tile");
  const isButton = event.composedPath().some((one) => one.localName === "button");
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!tile || isButton || !isPlain) return;
  const image = event.target.closest("bus-image");
  if (!event.target.closest("a") && (!image || image.state !== "loaded")) return;
  event.preventDefault();
  show(tile);
});
dialog.addEventListener("click", (event) => {
  // The backdrop counts as the dialog itself.
  if (event.target === dialog || event.target.localName === "button") dialog.close();
});
// Nobody waits for it any more: its load ends.
dialog.addEventListener("close", () => (large.src = ""));

// MARK: - Prefetch

const ahead = byID("ahead");
let fetching;
ahead.hidden = document.querySelectorAll(".tile").length === 0;
ahead.addEventListener("click", async () => {
  if (fetching) return fetching.cancel();
  const links = document.querySelectorAll(".tile:not(:has([animated])) a");
  fetching = BusImage.prefetch([...links].map((link) => link.href));
  ahead.textContent = "Cancel the prefetch";
  const { loaded, skipped } = await fetching.done;
  fetching = undefined;
  ahead.textContent = skipped ? `${loaded} ahead, ${skipped} skipped` : `${loaded} ahead`;
});

// MARK: - Figures

/** Values by name and labels, such as `imagebus_processes{kind="decode",state="busy"}`. */
function parsed(text) {
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const space = line.lastIndexOf(" ");
    return [line.slice(0, space), Number(line.slice(space + 1))];
  }));
}

const sum = (figures, prefix) => [...figures]
  .reduce((total, [name, value]) => (name.startsWith(prefix) ? total + value : total), 0);

function figuresOf(figures) {
  const one = (name) => figures.get(name) ?? 0;
  return {
    waiting: one("imagebus_live_requests"),
    made: one('imagebus_jobs_started_total{stage="transform"}'),
    hits: one('imagebus_cache_requests_total{tier="memory"}')
      + one('imagebus_cache_requests_total{tier="disk"}'),
    shared: sum(figures, "imagebus_coalesced_total{"),
    cancelled: one("imagebus_requests_cancelled_total"),
    bytes: bytes(one("imagebus_transferred_bytes_total")),
  };
}

function showWorkers(figures) {
  const kinds = ["download", "cache", "decode", "transform"];
  const count = (kind, state) =>
    figures.get(`imagebus_processes{kind="${kind}",state="${state}"}`) ?? 0;
  byID("workers").replaceChildren(...kinds.flatMap((kind) => {
    const busy = count(kind, "busy");
    const all = busy + count(kind, "ready") + count(kind, "draining");
    if (all === 0) return [];
    const item = document.createElement("li");
    for (let number = 0; number < all; number += 1) {
      const dot = document.createElement("i");
      dot.classList.toggle("busy", number < busy);
      item.append(dot);
    }
    item.append(`${kind}${all > 1 ? ` × ${all}` : ""}`);
    item.title = `${busy} of ${all} at work`;
    return [item];
  }));
}

async function refresh() {
  const section = byID("figures");
  try {
    const response = await fetch("/metrics", { cache: "no-store" });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const figures = parsed(await response.text());
    showWorkers(figures);
    for (const [name, value] of Object.entries(figuresOf(figures))) {
      section.querySelector(`[data-figure=${name}]`).textContent = value;
    }
    section.classList.remove("silent");
    byID("silent").hidden = true;
  } catch {
    section.classList.add("silent");
    byID("silent").hidden = false;
  }
}

await refresh();
setInterval(() => document.hidden || refresh(), 1000);
