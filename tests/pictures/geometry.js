/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at every drawing of the page as the browser has laid it out, once for each font, and leaves
 * what is wrong in the document, as JSON, to be read from --dump-dom.
 */
"use strict";

const FONTS = ["", "DejaVu Sans", "Liberation Sans"];
const SLACK = 0.5; /* pixels: glyph boxes are not whole ones */

function name(text) {
	return `"${text.textContent}"`;
}

function box(element) {
	const b = element.getBBox();

	return {left: b.x, top: b.y, right: b.x + b.width, bottom: b.y + b.height};
}

function overlaps(a, b) {
	return a.left < b.right - SLACK && b.left < a.right - SLACK &&
	       a.top < b.bottom - SLACK && b.top < a.bottom - SLACK;
}

function within(a, b) {
	return a.left >= b.left - SLACK && a.right <= b.right + SLACK &&
	       a.top >= b.top - SLACK && a.bottom <= b.bottom + SLACK;
}

/* Each text in the page, in its box, and apart from all other texts. */
function* problems(svg) {
	const view = svg.viewBox.baseVal;
	const page = {left: 0, top: 0, right: view.width, bottom: view.height};
	const texts = [...svg.querySelectorAll("text")].map(text => [text, box(text)]);

	if (texts.length === 0)
		yield "has no text";
	for (const [text, place] of texts) {
		const frame = text.parentElement.querySelector(":scope > rect.box");

		if (place.right <= place.left)
			yield `${name(text)} is not shown`;
		if (!within(place, page))
			yield `${name(text)} leaves the drawing`;
		if (frame && !within(place, box(frame)))
			yield `${name(text)} leaves its box`;
	}
	for (let i = 0; i < texts.length; i++)
		for (let j = 0; j < i; j++)
			if (overlaps(texts[i][1], texts[j][1]))
				yield `${name(texts[i][0])} is upon ${name(texts[j][0])}`;
	for (const shape of svg.querySelectorAll("rect:not(.page), path"))
		if (!within(box(shape), page))
			yield "a shape leaves the drawing";
}

const found = {};
for (const svg of document.querySelectorAll("div > svg")) {
	found[svg.parentElement.id] = [];
	for (const font of FONTS) {
		for (const text of svg.querySelectorAll("text"))
			text.style.fontFamily = font;
		for (const problem of problems(svg))
			found[svg.parentElement.id].push(`${font || "the usual font"}: ${problem}`);
	}
}
document.body.textContent = JSON.stringify(found);
document.body.id = "found";
