// panel.js - the panel below the timeline: its tabs, its height, and when it is open.
//
// A tab is an entry of `panelTabs`, made by its file; main.js tells which there are:
//
//   id       its name in the page's address: letters
//   label    what its button says
//   key      opens it; null: no key has it
//   about    what the key does, for the help
//   draw(box)      called once, when the tab is opened first: fills its element.  A tab that was never
//                  opened costs nothing
//   first()        what the keyboard goes to from the tab's button; optional: else the row that is chosen, or the first button
//   shown()        the tab is seen now, or its element has another size; optional
//   hidden()       it is seen no longer; optional
//   changed(what)  the view changed, as for view.listeners ("theme" after a change of colours); optional.
//                  Only while the tab is seen
//   state()        what the address has to hold of it, as text; "" = nothing; optional
//   stateSet(text) the same, back; before draw() if the tab was never opened; optional
//
// The address has `panel=<id>` while the panel is open, else `panel=0`, and `<id>=<state>` of each tab with a state.  Without
// `panel` the panel opens by itself where the tracks leave it room.

import {addressWrite, decoded} from "./address.js";
import {byId, el} from "./format.js";
import {keyName} from "./input.js";
import {trace} from "./rows.js";
import {STATE_LEAST, STATE_MOST, tracksHeight} from "./tracks.js";
import {view} from "./view.js";

const PANEL_BY_ITSELF = ["flame", "spans", "locks"]; // tabs, of which the first that is there opens
const PANEL_ROWS_MOST = 1e6; // waits and samples that are summed up without being asked
const PANEL_ROOM = 200; // free pixels in which it opens by itself
const PANEL_LEAST = 120, PANEL_ABOVE = 140, PANEL_SHARE = 0.45, PANEL_STEP = 24; // CSS pixels; of the height

/** @type {PanelTab[]} */
export const panelTabs = [];
const panel = {
	open: null, // the tab that is seen
	last: null, // that was seen last
	height: 0, // as the user chose it; 0 = a share of the room
	boxes: new Map(), // tab -> its element
};

function panelNamed(id) {
	return panelTabs.find((tab) => tab.id === id) || null;
}

/** @param {PanelTab} tab */
function panelBox(tab) {
	let box = panel.boxes.get(tab);

	if (!box) {
		box = el("div", {class: "tab", id: `panel-${tab.id}`, role: "tabpanel",
			"aria-labelledby": `panel-tab-${tab.id}`});
		panel.boxes.set(tab, box);
		byId("panel-body").append(box);
		tab.draw(box);
	}
	return box;
}

// Height of the tracks' area without the panel.
function panelOver() {
	return byId("canvases").clientHeight + (panel.open ? byId("panel").offsetHeight : 0);
}

// Height in CSS pixels, at the present size of the window: if the user chose none, a share, or what the tracks leave free with
// their lanes as low or as high as may be.
function panelHeight() {
	const room = byId("left").clientHeight, share = room * PANEL_SHARE;
	const most = panelOver() - tracksHeight(STATE_LEAST), least = panelOver() - tracksHeight(STATE_MOST);
	const fits = Math.max(most < PANEL_ROOM ? share : Math.min(share, most), least);

	return Math.max(PANEL_LEAST, Math.min(panel.height || fits, room - PANEL_ABOVE));
}

export function panelFit() {
	if (panel.open)
		byId("panel").style.height = `${Math.round(panelHeight())}px`;
}

// Opens a tab; null closes the panel.
export function panelShow(tab, {focus = false} = {}) {
	if (tab !== panel.open && panel.open && panel.open.hidden)
		panel.open.hidden();
	panel.open = tab;
	panel.last = tab || panel.last;
	byId("panel").hidden = !tab;
	byId("panel-open").setAttribute("aria-expanded", String(Boolean(tab)));
	for (const each of panelTabs) {
		const button = byId(`panel-tab-${each.id}`);
		button.setAttribute("aria-selected", String(each === tab));
		button.tabIndex = each === tab ? 0 : -1;
	}
	if (tab) {
		panelFit();
		const seen = panelBox(tab);
		for (const box of panel.boxes.values())
			box.hidden = box !== seen;
		if (tab.shown)
			tab.shown();
		if (focus)
			byId(`panel-tab-${tab.id}`).focus();
	} else if (byId("panel").contains(document.activeElement) || document.activeElement === document.body) {
		byId("canvases").focus({preventScroll: true});
	}
	addressWrite();
}

// The tab that fills what the tracks leave free; null: they leave too little, or summing up would take long.
function panelByItself() {
	const rows = trace.park.n + trace.sample.n;
	const narrow = matchMedia("(max-width: 700px)").matches; // the details are below

	if (!rows || rows > PANEL_ROWS_MOST || narrow || panelOver() - tracksHeight(STATE_LEAST) < PANEL_ROOM)
		return null;
	return PANEL_BY_ITSELF.map(panelNamed).find((tab) => tab) || null;
}

// Opens a tab.  If it is seen already its key leads to it, and closes the panel when pressed again.
/** @param {PanelTab} tab */
function panelToggle(tab) {
	const isHere = panel.open === tab && byId("panel").contains(document.activeElement);

	panelShow(isHere ? null : tab, {focus: true});
}

function panelLast() {
	return panel.open || panel.last || panelTabs[0];
}

export function panelChanged(what) {
	if (panel.open && panel.open.changed)
		panel.open.changed(what);
}

// Another height, in CSS pixels; 0 = a share of the room.
/** @param {number} height */
function panelSize(height) {
	panel.height = height;
	panelFit();
	try {
		localStorage.setItem("trc-panel", height ? String(Math.round(height)) : "");
	} catch {
		// It lasts as long as the page.
	}
}

// ---- the address ----

// Parts of the address, as key=value.
export function panelAddress() {
	const parts = [`panel=${panel.open ? panel.open.id : 0}`];

	for (const tab of panelTabs) {
		const state = tab.state ? tab.state() : "";
		if (state)
			parts.push(`${tab.id}=${encodeURIComponent(state)}`);
	}
	return parts;
}

// `asked`: a map of the address's keys and values.
/** @param {Map<string, string>} asked */
export function panelApply(asked) {
	for (const tab of panelTabs)
		if (tab.stateSet)
			tab.stateSet(decoded(asked.get(tab.id) || ""));
	panelShow(asked.has("panel") ? panelNamed(asked.get("panel")) : panelByItself());
}

// ---- what the user does ----

function panelEdge() {
	const edge = byId("panel-edge"), box = byId("panel");
	let from = null;

	const drags = (at) => {
		from = at;
		edge.classList.toggle("dragged", at !== null);
	};
	edge.addEventListener("pointerdown", (event) => {
		edge.setPointerCapture(event.pointerId);
		drags(event.clientY - box.getBoundingClientRect().top);
		event.preventDefault();
	});
	edge.addEventListener("pointermove", (event) => from !== null &&
		panelSize(Math.max(PANEL_LEAST, box.getBoundingClientRect().bottom - event.clientY + from)));
	edge.addEventListener("pointerup", () => drags(null));
	edge.addEventListener("pointercancel", () => drags(null));
	edge.addEventListener("dblclick", () => panelSize(0));
	edge.addEventListener("keydown", (event) => {
		const by = {ArrowUp: PANEL_STEP, ArrowDown: -PANEL_STEP}[event.key];
		if (!by)
			return;
		panelSize(panelHeight() + by);
		event.preventDefault();
		event.stopPropagation();
	});
}

// From a tab's button into what the tab has.
function panelEnter() {
	const box = panel.boxes.get(panel.open), {first} = panel.open;
	const element = first ? first() : /** @type {HTMLElement} */ (box.querySelector("tr.chosen button") || box.querySelector("button:not([disabled])"));

	if (element)
		element.focus();
}

// Arrows lead from tab to tab, as in any list of tabs, and down into the tab.
function panelTabKey(event) {
	const by = {ArrowLeft: -1, ArrowRight: 1, ArrowDown: 0}[event.key];

	if (by === undefined || !panel.open)
		return;
	const n = panelTabs.length, at = panelTabs.indexOf(panel.open);
	if (by)
		panelShow(panelTabs[(at + by + n) % n], {focus: true});
	else
		panelEnter();
	event.preventDefault();
	event.stopPropagation();
}

// Keys of the panel and its tabs: [key, what it does, action].
/** @returns {Command[]} */
export function panelCommands() {
	/** @type {Command[]} */
	const keys = panelTabs.filter((tab) => tab.key).map((tab) => [tab.key, tab.about, () => panelToggle(tab)]);

	return panelTabs.length ? [["b", "open or close the panel below", () => panelShow(panel.open ? null : panelLast(), {focus: true})], ...keys] : [];
}

/** @param {PanelTab[]} tabs in the order of their buttons */
export function panelInit(tabs) {
	try {
		panel.height = Number(localStorage.getItem("trc-panel")) || 0;
	} catch {
		// A share of the room.
	}
	panelTabs.push(...tabs.filter((tab) => !tab.isThere || tab.isThere()));
	for (const tab of panelTabs)
		byId("panel-tabs").append(el("button", {type: "button", role: "tab", id: `panel-tab-${tab.id}`,
			"aria-controls": "panel-body", title: tab.key ? `Key: ${keyName(tab.key)}` : undefined,
			onclick: () => panelShow(tab)}, tab.label));
	byId("panel-tabs").addEventListener("keydown", panelTabKey);
	byId("panel-open").hidden = !panelTabs.length;
	byId("panel-open").addEventListener("click", () => panelShow(panel.open ? null : panelLast(), {focus: true}));
	byId("panel-close").addEventListener("click", () => panelShow(null));
	panelEdge();
	view.listeners.push(panelChanged);
	// Its height follows the window's; then whatever lies in it has another size.
	new ResizeObserver(panelFit).observe(byId("left"));
	new ResizeObserver(() => panel.open && panel.open.shown && panel.open.shown()).observe(byId("panel-body"));
}
