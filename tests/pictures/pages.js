/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at status pages as the browser has laid them out in frames of some width, and leaves what it
 * finds in the document, as JSON, to be read from --dump-dom. The identity of a frame is its key.
 */
"use strict";

const SLACK = 1; /* pixels */

/* Red, green, blue and alpha of a computed colour. */
function channels(colour) {
	const numbers = colour.match(/[\d.]+/g).map(Number);

	return {rgb: numbers.slice(0, 3), alpha: numbers.length > 3 ? numbers[3] : 1};
}

/* WCAG 2.2, relative luminance. */
function luminance(rgb) {
	const [r, g, b] = rgb.map(c => {
		c /= 255;
		return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
	});

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function background(element) {
	for (let at = element; at; at = at.parentElement) {
		const {rgb, alpha} = channels(getComputedStyle(at).backgroundColor);

		if (alpha > 0)
			return rgb;
	}
	return [255, 255, 255];
}

function contrast(element) {
	const ink = luminance(channels(getComputedStyle(element).color).rgb);
	const paper = luminance(background(element));

	return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}

function describe(element) {
	return `${element.tagName.toLowerCase()} "${element.textContent.trim().slice(0, 40)}"`;
}

/* The text of HTML with the least contrast: drawings have colours of their own. */
function faintest(root) {
	let found = {contrast: 21, text: ""};

	for (const element of root.querySelectorAll("h1, h2, p, small, th, td, dt, dd, b, a, summary")) {
		const value = contrast(element);

		if (value < found.contrast)
			found = {contrast: value, text: describe(element)};
	}
	return found;
}

/* Elements in which a person has to scroll sideways; a drawing may be one, to be readable. */
function sideways(root) {
	return [...root.querySelectorAll("*:not(.drawing)")]
		.filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + SLACK &&
			     ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
		.map(e => `${e.tagName.toLowerCase()}.${e.className} is ${e.scrollWidth} wide`);
}

/* How large drawings are shown, 1 being as they are drawn. Without a drawing 1. */
function scale(root) {
	const svg = root.querySelector(".drawing svg");

	return svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
}

function measure(frame) {
	const root = frame.contentDocument.documentElement;
	const found = {height: root.scrollHeight};

	for (const fold of root.querySelectorAll("details"))
		fold.open = true;
	found.width = root.scrollWidth;
	found.sideways = sideways(root);
	found.scale = scale(root);
	found.faintest = faintest(root);
	found.paper = luminance(background(root.querySelector("body")));
	found.verdict = root.querySelector(".verdict p")?.textContent ?? "";
	found.scripts = root.querySelectorAll("script").length;
	return found;
}

onload = () => {
	const found = {};

	for (const frame of document.querySelectorAll("iframe"))
		found[frame.id] = measure(frame);
	document.body.textContent = JSON.stringify(found);
	document.body.id = "found";
};
