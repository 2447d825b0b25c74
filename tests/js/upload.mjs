// Sends files as real clients do: urql, which makes multipart requests of files among the variables, and a FormData.
// Usage: node upload.mjs URL

import assert from "node:assert/strict";

import { Client, fetchExchange } from "@urql/core";

const url = process.argv[2];
const client = new Client({
  url,
  exchanges: [fetchExchange],
  preferGetMethod: false,
  fetchOptions: { headers: { "graphql-preflight": "1" } },
});
const file = (name, text) => new File([text], name, { type: "text/plain" });

const one = await client.mutation("mutation ($file: Upload!) { one(file: $file) { name content_type size text } }", {
  file: file("ünï.txt", "hello"),
});
assert.equal(one.error, undefined);
const { name, content_type, size, text } = one.data.one;
assert.deepEqual({ name, content_type, size, text }, { name: "ünï.txt", content_type: "text/plain", size: 5, text: "hello" });

const many = await client.mutation("mutation ($files: [Upload!]!, $input: WithFile!) { many(files: $files) { text } nested(input: $input) { text } }", {
  files: [file("a", "first"), file("b", "second")],
  input: { label: "x", file: file("c", "third") },
});
assert.equal(many.error, undefined);
assert.deepEqual(many.data.many.map(({ text }) => text), ["first", "second"]);
assert.equal(many.data.nested.text, "third");

const form = new FormData();
form.append("operations", JSON.stringify({ query: "mutation ($file: Upload!) { one(file: $file) { text } }", variables: { file: null } }));
form.append("map", JSON.stringify({ 0: ["variables.file"] }));
form.append("0", file("f", "by hand"));
const sent = await fetch(url, { method: "POST", body: form, headers: { "graphql-preflight": "1" } });
assert.deepEqual(await sent.json(), { data: { one: { text: "by hand" } } });
console.log("ok");
