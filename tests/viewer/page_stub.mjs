// page_stub.mjs - as much of a page as the modules of viewer/assets need to begin in node: imported before them.
//
// An element has a name and children, and a text that is its own or theirs; nothing is ever drawn.

class Element {
	constructor(name) {
		Object.assign(this, {name, children: [], dataset: {}, style: {}, attributes: new Map(), text: ""});
	}
	append(...parts) {
		this.children.push(...parts);
	}
	replaceChildren(...parts) {
		this.children = parts;
	}
	setAttribute(key, value) {
		this.attributes.set(key, value);
	}
	addEventListener() {}
	get textContent() {
		return this.text + this.children.map((part) => part.textContent ?? part).join("");
	}
	set textContent(text) {
		this.text = text;
	}
}

globalThis.document = {createElement: (name) => new Element(name), getElementById: () => ({textContent: "{}"})};
