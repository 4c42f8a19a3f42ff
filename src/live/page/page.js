"use strict";

// Shows the events of the live page. All texts of the program become text nodes. Memory is bounded:
// each series keeps ten minutes with a point a second, and an object that has gone takes its series along.

const KEPT_POINTS = 600;
const KEPT_FINDING = 10000;  // milliseconds
const PRIORITIES = ["high", "medium", "low"];
const SERIES_COLOURS = 8;

const byId = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "g", "rect", "path", "text", "defs", "marker", "title"].includes(tag);
    const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
};
const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
};

// ---- Numbers

function brief(number) {
    if (number === null || number === undefined || Number.isNaN(number)) return "–";
    for (const [size, unit] of [[1e9, " G"], [1e6, " M"], [1e4, " k", 1e3]]) {
        if (number >= size) return (number / Math.min(size, unit === " k" ? 1e3 : size)).toFixed(1) + unit;
    }
    return number >= 10 || Number.isInteger(number) ? number.toFixed(0) : number.toFixed(1);
}
function duration(seconds) {
    if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
    for (const [size, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
        if (seconds >= size) return (seconds / size).toFixed(seconds / size < 10 ? 1 : 0) + " " + unit;
    }
    return (seconds * 1e9).toFixed(0) + " ns";
}
const exact = (number) => number.toLocaleString("en");

// ---- Objects

/** The key of a number, by its family, type, priority and reason. */
const keyOf = (family, labels) => [family, ...labels].join("\0");

/** An object's numbers in two snapshots, the earlier of which may be missing. */
class Watched {
    constructor(object) {
        this.id = object.id;
        this.name = object.name;
        this.times = [];
        this.series = new Map();  // chart -> label -> values
        this.update(object, null);
    }

    update(object, seconds) {
        this.before = seconds ? this.now : null;
        this.seconds = seconds;
        this.now = object.readings;
        this.past = new Map((this.before ?? []).map(([family, value, ...labels]) => [keyOf(family, labels), value]));
        this.families = new Set(this.now.map(([family]) => family));
    }
    has(family) {
        return this.families.has(family);
    }
    /** The sum of a family's numbers with these labels. */
    sum(family, {type, priority, reason} = {}, readings = this.now) {
        let sum = 0;
        for (const [name, value, ofType, ofPriority, ofReason] of readings) {
            if (name === family && (!type || type === ofType) && (!priority || priority === ofPriority) &&
                (!reason || reason === ofReason)) sum += value;
        }
        return sum;
    }
    rate(family, labels = {}) {
        if (!this.before) return null;
        return Math.max(0, this.sum(family, labels) - this.sum(family, labels, this.before)) / this.seconds;
    }
    /** Of the threads that both readings have: one that has ended takes its time away. */
    cpu() {
        const threads = this.now.filter(([family]) => family === "sluice_thread_cpu_seconds");
        const grown = threads.map(([family, value, ...labels]) => value - (this.past.get(keyOf(family, labels)) ?? value));
        return this.before ? grown.reduce((sum, each) => sum + Math.max(0, each), 0) / this.seconds : null;
    }
    types() {
        return [...new Set(this.now.filter(([family]) => family === "sluice_bus_published").map(([, , type]) => type))];
    }
    get kind() {
        for (const [family, kind] of [
            ["sluice_object_handled", "active object"], ["sluice_bus_published", "bus"], ["sluice_queue_length", "queue"],
            ["sluice_events_enqueued", "event queue"], ["sluice_executor_objects", "executor"], ["sluice_pool_used", "pool"],
            ["sluice_log_logged", "log"], ["sluice_watchdog_late", "watchdog"], ["sluice_bridge_count", "bridge"],
            ["sluice_thread_cpu_seconds", "threads"]]) {
            if (this.has(family)) return kind;
        }
        return "numbers";
    }
    /** Accepted, done and refused messages, in total or per second. */
    counts(read) {
        const total = read === "total";
        const of = (family, labels) => (total ? this.sum(family, labels) : this.rate(family, labels));
        if (this.has("sluice_bus_published")) {
            const waiting = total ? this.sum("sluice_bus_queued")
                : this.before ? (this.sum("sluice_bus_queued") - this.sum("sluice_bus_queued", {}, this.before)) / this.seconds : null;
            return [Math.max(0, of("sluice_bus_published") + waiting), of("sluice_bus_delivered"), of("sluice_bus_rejected")];
        }
        if (this.has("sluice_object_rejected")) return [null, of("sluice_object_handled"), of("sluice_object_rejected")];
        if (this.has("sluice_events_enqueued"))
            return [of("sluice_events_enqueued"), of("sluice_events_processed"), of("sluice_events_rejected")];
        if (this.has("sluice_log_logged"))
            return [of("sluice_log_logged"), of("sluice_log_written"), of("sluice_log_rejected")];
        if (this.has("sluice_pool_exhausted")) return [null, null, of("sluice_pool_exhausted")];
        return [null, null, null];
    }
    /** [label, waiting, room] of each bar; a room of 0 is unknown. */
    fills() {
        if (this.has("sluice_bus_room")) {
            return PRIORITIES.filter((each) => this.sum("sluice_bus_room", {priority: each}))
                .map((each) => [each, this.sum("sluice_bus_queued", {priority: each}), this.sum("sluice_bus_room", {priority: each})]);
        }
        for (const [used, room] of [["sluice_queue_length", "sluice_queue_room"], ["sluice_object_queued", "sluice_object_room"],
            ["sluice_pool_used", "sluice_pool_blocks"], ["sluice_events_queued", ""], ["sluice_log_queued", ""]]) {
            if (this.has(used)) return [["", this.sum(used), room ? this.sum(room) : 0]];
        }
        return [];
    }
    wait(priority) {
        const count = this.rate("sluice_bus_timed", {priority});
        return count ? this.rate("sluice_bus_queue_time_seconds", {priority}) / count / 1e9 : null;
    }
    busy() {
        const busy = this.rate("sluice_object_handler_seconds");
        return busy ? Math.min(1, busy / 1e9) : null;
    }

    /** Adds a point to the charts of this object. */
    remember(time) {
        const points = {rates: {}, depth: {}, trouble: {}, wait: {}, cpu: {}};
        const [accepted, done] = this.counts("rate");
        if (this.has("sluice_bus_published")) {
            for (const type of this.types().slice(0, SERIES_COLOURS)) {
                points.rates[type] = this.rate("sluice_bus_published", {type});
            }
            for (const priority of PRIORITIES) {
                points.wait[priority] = this.wait(priority);
                points.trouble[priority + " refused"] = this.rate("sluice_bus_rejected", {priority});
            }
            points.trouble.dropped = this.rate("sluice_bus_dropped");
            points.trouble.expired = this.rate("sluice_bus_expired");
            points.trouble.failed = this.rate("sluice_bus_handler_failures");
        } else {
            if (accepted !== null) points.rates.accepted = accepted;
            if (done !== null) points.rates.done = done;
            if (this.counts("total")[2] !== null) points.trouble.refused = this.counts("rate")[2];
        }
        for (const [family, , type] of this.now.slice(0, 2 * SERIES_COLOURS)) {
            if (family === "sluice_thread_cpu_seconds") points.cpu[type] = this.rate(family, {type}) / 1e7;
        }
        for (const [label, used, room] of this.fills()) {
            points.depth[label || "waiting"] = used;
            if (room) points.depth[label ? label + " room" : "room"] = room;
        }
        this.times.push(time);
        for (const [chart, values] of Object.entries(points)) {
            const series = this.series.get(chart) ?? this.series.set(chart, new Map()).get(chart);
            for (const [label, value] of Object.entries(values)) {
                if (!series.has(label)) series.set(label, new Array(this.times.length - 1).fill(null));
                series.get(label).push(value);
            }
            for (const each of series.values()) {
                if (each.length < this.times.length) each.push(null);
                if (each.length > KEPT_POINTS) each.shift();
            }
        }
        if (this.times.length > KEPT_POINTS) this.times.shift();
    }
}

const objects = new Map();
let snapshot = null;
let chosen = null;
let remembered = -Infinity;

// ---- What is wrong

const seen = new Map();  // the text without its numbers -> finding and when it was last true

function showFindings(at) {
    for (const finding of snapshot.findings) {
        const key = finding.object + "\0" + finding.text.replace(/[\d.]+( [nmu]?s\b)?/g, "#");
        seen.set(key, {...finding, at});
    }
    for (const [key, each] of seen) {
        if (at - each.at > KEPT_FINDING) seen.delete(key);
    }
    const lines = [...seen.values()].sort((a, b) => b.fault - a.fault).slice(0, 20).map((each) => {
        const line = make("li", {}, make("b", {}, each.object), each.text);
        line.className = (each.fault ? "fault" : "") + (each.at < at ? " past" : "");
        if (each.at < at) line.append(make("small", {}, `${Math.round((at - each.at) / 1000)} s ago`));
        return line;
    });
    if (lines.length === 0) lines.push(make("li", {class: "good"}, "Nothing. No message is refused or lost, no queue is full, no handler is late."));
    byId("findings").replaceChildren(...lines);
}

// ---- The graph

let shape = "";
let graphWidth = byId("graph").clientWidth;  // asked for only when it may have changed
let nodes = new Map();
let edges = [];

/** The nodes and arrows to draw. A bus without flows shows its types and its handlers. */
function topology() {
    const flows = snapshot.flows.map(([from, to, type]) => ({from, to, type}));
    const named = new Set(flows.flatMap(({from, to}) => [from, to]));
    const plain = new Set();
    const watched = new Map([...objects.values()].map((each) => [each.name, each]));
    for (const each of objects.values()) {
        if (!named.has(each.name) && each.has("sluice_bus_published")) {
            for (const type of each.types()) {
                flows.push({from: `${type} `, to: each.name, type});
            }
            if (!each.has("sluice_object_handled")) flows.push({from: each.name, to: `handlers of ${each.name}`, type: ""});
        }
    }
    for (const {from, to} of flows) {
        for (const name of [from, to]) if (!watched.has(name)) plain.add(name);
    }
    return {flows, plain: [...plain], watched};
}

function edgeRate({from, to, type}, watched) {
    const source = watched.get(from);
    const target = watched.get(to);
    if (type) {
        const bus = [target, source].find((each) => each?.types().includes(type));
        return bus ? bus.rate("sluice_bus_published", {type}) : null;
    }
    return target?.counts("rate")[0] ?? target?.counts("rate")[1] ?? source?.counts("rate")[1] ?? null;
}

function draw(drawn) {
    const narrow = graphWidth < 640;
    const graph = new dagre.graphlib.Graph({multigraph: true});
    graph.setGraph({rankdir: narrow ? "TB" : "LR", nodesep: narrow ? 14 : 18, ranksep: narrow ? 42 : 90, marginx: 4, marginy: 8});
    graph.setDefaultEdgeLabel(() => ({}));
    const alone = new Set(drawn.watched.keys());
    for (const name of drawn.flows.flatMap(({from, to}) => [from, to])) alone.delete(name);
    for (const each of drawn.watched.values()) {
        const width = Math.max(150, 24 + 8.2 * Math.min(each.name.length, 26));
        graph.setNode("w" + each.name, {width, height: 50 + 22 * each.fills().length, watched: each});
    }
    for (const name of drawn.plain) graph.setNode("p" + name, {width: Math.max(50, 20 + 8 * Math.min(name.length, 26)), height: 28, name});
    drawn.flows.forEach(({from, to}, index) => {
        const key = (name) => (drawn.watched.has(name) ? "w" : "p") + name;
        graph.setEdge(key(from), key(to), {width: narrow ? 50 : 60, height: 14, labelpos: "c"}, String(index));
    });
    const apart = [...alone].map((name) => ["w" + name, graph.node("w" + name)]);
    for (const [key] of apart) graph.removeNode(key);
    dagre.layout(graph);
    let {width, height} = graph.graph();
    if (!Number.isFinite(width)) [width, height] = [0, 0];
    const room = Math.max(width, graphWidth - 8);
    let [x, y, rowHeight] = [4, height + 8, 0];
    for (const [key, laid] of apart) {  // objects without arrows, in rows below the others
        if (x + laid.width > room && rowHeight) [x, y, rowHeight] = [4, y + rowHeight + 12, 0];
        graph.setNode(key, Object.assign(laid, {x: x + laid.width / 2, y: y + laid.height / 2}));
        x += laid.width + 12;
        width = Math.max(width, x);
        rowHeight = Math.max(rowHeight, laid.height);
        height = Math.max(height, y + rowHeight + 4);
    }
    const scale = Math.max(0.72, Math.min(1, graphWidth / (width || 1)));
    const svg = make("svg", {width: (width || 10) * scale, height: (height || 10) * scale, viewBox: `0 0 ${width || 10} ${height || 10}`, role: "presentation"},
        make("defs", {}, make("marker", {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
            make("path", {d: "M0,0 L8,4 L0,8 z"}))));
    edges = graph.edges().map((edge) => {
        const laid = graph.edge(edge);
        const [first, ...rest] = laid.points;
        const line = `M${first.x},${first.y} ` + rest.map(({x, y}) => `L${x},${y}`).join(" ");
        const text = make("text", {x: laid.x, y: laid.y + 4, "text-anchor": "middle"});
        const group = make("g", {class: "edge"}, make("path", {d: line, "marker-end": "url(#tip)"}), text);
        svg.append(group);
        return {group, text, flow: drawn.flows[Number(edge.name)]};
    });
    nodes = new Map();
    for (const key of graph.nodes()) {
        const laid = graph.node(key);
        const [left, top] = [laid.x - laid.width / 2, laid.y - laid.height / 2];
        const box = make("rect", {class: "box", x: left, y: top, width: laid.width, height: laid.height, rx: laid.watched ? 8 : 14});
        if (!laid.watched) {
            svg.append(make("g", {class: "node plain"}, box,
                make("text", {x: laid.x, y: laid.y + 4.5, "text-anchor": "middle"}, laid.name.trim())));
            continue;
        }
        const name = laid.watched.name;
        const shown = name.length > 26 ? name.slice(0, 25) + "…" : name;
        const small = make("text", {class: "small", x: left + 10, y: top + 38});
        const group = make("g", {class: "node watched", tabindex: 0, role: "button"}, make("title", {}, name), box,
            make("text", {class: "name", x: left + 10, y: top + 21}, shown), small);
        const bars = laid.watched.fills().map(([label], row) => {
            const y = top + 48 + 22 * row;
            const fill = make("rect", {class: `fill ${label}`, x: left + 10, y: y + 12, width: 0, height: 4, rx: 2});
            const text = make("text", {class: "small", x: left + 10, y: y + 9});
            group.append(make("rect", {class: "track", x: left + 10, y: y + 12, width: laid.width - 20, height: 4, rx: 2}), fill, text);
            return {fill, text, width: laid.width - 20};
        });
        group.addEventListener("click", () => choose(laid.watched.id));
        group.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            choose(laid.watched.id);
        });
        svg.append(group);
        nodes.set(laid.watched.id, {group, small, bars});
    }
    const focused = document.activeElement?.closest?.(".node") !== null && document.activeElement !== document.body;
    byId("graph").replaceChildren(svg);
    if (focused && nodes.has(chosen)) nodes.get(chosen).group.focus();
}

function showGraph() {
    const drawn = topology();
    const newShape = JSON.stringify([drawn.flows, drawn.plain, [...objects.values()].map((each) => [each.id, each.fills().length]),
        graphWidth < 640]);
    if (newShape !== shape) {
        shape = newShape;
        draw(drawn);
    }
    for (const {group, text, flow} of edges) {
        const rate = edgeRate(flow, drawn.watched);
        setText(text, rate === null ? "" : `${brief(rate)}/s`);
        group.classList.toggle("moves", rate > 0);
    }
    const faulty = new Set(snapshot.findings.filter((each) => each.fault).map((each) => each.object));
    for (const [id, {group, small, bars}] of nodes) {
        const each = objects.get(id);
        const [accepted, done] = each.counts("rate");
        const flow = accepted ?? done;
        setText(small, each.kind + (flow === null ? "" : ` · ${brief(flow)}/s`));
        each.fills().forEach(([label, used, room], row) => {
            const {fill, text, width} = bars[row];
            const part = room ? Math.min(1, used / room) : 0;
            fill.setAttribute("width", (part * width).toFixed(1));
            fill.classList.toggle("full", part >= 0.9);
            setText(text, `${label} ${brief(used)}${room ? ` of ${brief(room)}` : ""}`.trim());
        });
        group.classList.toggle("wrong", faulty.has(each.name));
        group.classList.toggle("chosen", id === chosen);
        group.setAttribute("aria-label", `${each.name}, ${each.kind}`);
        group.setAttribute("aria-pressed", String(id === chosen));
    }
}

// ---- Charts

const CHARTS = [["rates", "Messages per second", brief], ["depth", "Waiting, against the room", brief],
    ["trouble", "Refused, dropped, expired, failed per second", brief], ["wait", "Mean time in the bus", duration],
    ["cpu", "Processor time in percent", brief]];
let plots = [];
let plotted = "";
let wasLive = false;

const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString("en-GB");
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function dataOf(watched, chart) {
    return [watched.times, ...(watched.series.get(chart)?.values() ?? [])];
}

function showCharts(isNewPoint) {
    const watched = objects.get(chosen);
    const charts = watched ? CHARTS.filter(([chart]) => watched.series.get(chart)?.size) : [];
    const key = JSON.stringify([chosen, charts.map(([chart]) => [chart, [...watched.series.get(chart).keys()]])]);
    if (key === plotted) {
        if (isNewPoint) for (const {plot, chart} of plots) plot.setData(dataOf(watched, chart));
        return;
    }
    plotted = key;
    for (const {plot} of plots) plot.destroy();
    byId("charts").replaceChildren();
    const figures = charts.map(([, title]) => make("figure", {}, make("figcaption", {}, title)));
    byId("charts").append(...figures);  // all of them, because their number gives them their width
    plots = charts.map(([chart, , format], place) => {
        const figure = figures[place];
        const axis = {stroke: colour("--soft"), grid: {stroke: colour("--line"), width: 1}, ticks: {stroke: colour("--line")},
            font: '11px "DejaVu Sans", sans-serif'};
        const colourOf = {high: "--high", medium: "--medium", low: "--low"};
        const plot = new uPlot({
            width: Math.max(200, figure.clientWidth), height: 170, legend: {live: true}, cursor: {points: {size: 5}},
            scales: {x: {time: true}, y: {range: (_, low, high) => [0, Math.max(high ?? 0, chart === "wait" ? 1e-6 : 1) * 1.08]}},
            axes: [{...axis, space: 90, values: (_, ticks) => ticks.map(clock)}, {...axis, size: 62, values: (_, ticks) => ticks.map(format)}],
            series: [{label: "at", value: (_, value) => (value === null ? "now" : clock(value))}, ...[...watched.series.get(chart).keys()].map((label, index) => ({
                label, width: 1.5, spanGaps: false, points: {show: false}, value: (plot, value, series, point) => format(point === null ? plot.data[series].at(-1) : value),
                stroke: colour(colourOf[label.split(" ")[0]] ?? `--s${index % SERIES_COLOURS}`),
                dash: label.endsWith("room") ? [4, 4] : undefined,
            }))],
        }, dataOf(watched, chart), figure);
        return {plot, chart, figure};
    });
}

function showTabs() {
    const list = [...objects.values()];
    const tabs = byId("tabs");
    const key = JSON.stringify(list.map((each) => [each.id, each.name]));
    if (tabs.dataset.key !== key) {
        tabs.dataset.key = key;
        tabs.replaceChildren(...list.map((each) => {
            const tab = make("button", {type: "button", role: "tab"}, each.name);
            tab.addEventListener("click", () => choose(each.id));
            tab.addEventListener("keydown", (event) => {
                const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
                if (!step) return;
                const all = [...objects.keys()];
                choose(all[(all.indexOf(each.id) + step + all.length) % all.length]);
                tabs.querySelector("[aria-selected=true]").focus();
            });
            return tab;
        }));
    }
    list.forEach((each, index) => {
        tabs.children[index].setAttribute("aria-selected", String(each.id === chosen));
        tabs.children[index].tabIndex = each.id === chosen ? 0 : -1;
    });
}

// ---- Tables

function fillRows(body, rows) {
    while (body.rows.length > rows.length) body.deleteRow(-1);
    rows.forEach((cells, index) => {
        const row = body.rows[index] ?? body.insertRow();
        while (row.cells.length < cells.length) row.insertCell();
        cells.forEach(([text, isBad], column) => {
            setText(row.cells[column], text);
            row.cells[column].className = isBad ? "bad" : "";
        });
    });
}

function showTables() {
    fillRows(byId("objects"), [...objects.values()].map((each) => {
        const rates = each.counts("rate");
        const totals = each.counts("total");
        const fills = each.fills();
        const waiting = fills.reduce((sum, [, used]) => sum + used, 0);
        const busy = each.busy();
        const cpu = each.cpu();  // of all threads: 200 % of two processors
        return [[each.name], [each.kind], [brief(rates[0])], [brief(rates[1])],
            [fills.length ? brief(waiting) : "–", fills.some(([, used, room]) => room && used >= 0.9 * room)],
            [brief(rates[2]), rates[2] > 0], ...totals.map((count) => [count === null ? "–" : exact(count)]),
            [duration(each.wait())], [busy || cpu ? `${(100 * (busy ?? cpu / 1e9)).toFixed(0)} %` : "–", busy > 0.8]];
    }));
    const watched = objects.get(chosen);
    byId("details").hidden = !watched;
    if (!watched) return;
    setText(byId("numbers"), `All numbers of ${watched.name}`);
    fillRows(byId("readings"), watched.now.filter(([, value]) => value !== 0).map(([family, value, type, priority, reason]) => {
        const {time, counts} = snapshot.families[family];
        const before = watched.past.get(keyOf(family, [type, priority, reason]));
        const rate = counts && before !== undefined && watched.seconds ? (value - before) / watched.seconds : null;
        return [[family], [[type, priority, reason].filter(Boolean).join(", ")], [time ? duration(value / 1e9) : exact(value)],
            [rate === null ? "" : time ? duration(rate / 1e9) : brief(rate)]];
    }));
}

// ---- Events

function choose(id) {
    chosen = id;
    showGraph();
    showTabs();
    showCharts(true);
    showTables();
}

function show(next) {
    const seconds = snapshot && next.at > snapshot.at ? (next.at - snapshot.at) / 1000 : null;
    if (snapshot && next.at < snapshot.at) {  // the program has started anew
        objects.clear();
        seen.clear();
    }
    const there = new Set(next.objects.map((each) => each.id));
    for (const id of objects.keys()) if (!there.has(id)) objects.delete(id);
    for (const object of next.objects) {
        const known = objects.get(object.id);
        if (known) known.update(object, seconds);
        else objects.set(object.id, new Watched(object));
    }
    snapshot = next;
    if (!objects.has(chosen)) chosen = [...objects.keys()][0] ?? null;
    const isNewPoint = seconds !== null && next.at - remembered >= 950 || next.at < remembered;
    if (isNewPoint) {
        remembered = next.at;
        for (const each of objects.values()) each.remember(next.time / 1000);
    }
    document.title = `${next.findings.some((each) => each.fault) ? "! " : ""}${next.title}`;
    setText(byId("title"), next.title);
    setText(byId("state"), `process ${next.pid}, watched for ${uptime(next.at)}`);
    byId("state").className = "live";
    byId("trace").hidden = !next.traces;
    showFindings(next.at);
    if (document.hidden) return;
    showGraph();
    showTabs();
    showCharts(isNewPoint);
    showTables();
}

function uptime(milliseconds) {
    const seconds = Math.floor(milliseconds / 1000);
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return parts.map((each) => String(each).padStart(2, "0")).join(":");
}

const source = new EventSource("events");
source.onmessage = (event) => {
    wasLive = true;
    show(JSON.parse(event.data));
};
source.onerror = () => {
    setText(byId("state"), wasLive ? "connection lost, trying again" : "no connection, trying again");
    byId("state").className = "lost";
};

const redraw = () => {
    if (!snapshot) return;
    plotted = "";
    graphWidth = byId("graph").clientWidth;
    showGraph();
    showCharts(true);
};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
let width = innerWidth;
addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    redraw();
});
