// Usage: node reference.mjs
// The reference GraphQL implementation (graphql-js) as a process which speaks JSON lines.
// First line:     {sdl, data}; not answered.
// Each next line: {id, query, variables, operationName}; answered by
//   {id, parse: null | {message, locations},
//    validation: [{message, locations, rule}],
//    result: null | {data: '<JSON text>', errors: [{message, path, locations}]}}
// When the execution did not start, `result` has no `data` but `kind`: 'variables' when the variables
// are wrong, and 'request' otherwise (as for an unknown operation name).
// See README.md for the special values in `data`.
// Exit code: 0 at the end of the input, 1 when the schema is bad, 2 when a line is not usable; then
// the last line is {fatal: message}.
import { createInterface } from 'node:readline';
import {
  buildSchema,
  execute,
  isObjectType,
  parse,
  specifiedRules,
  validate,
  validateSchema,
} from 'graphql';

// These rules are in `specifiedRules`, but not in the GraphQL specification.
const EXCLUDED = new Set(['MaxIntrospectionDepthRule']);
const RULES = specifiedRules.filter((rule) => !EXCLUDED.has(rule.name));
const UNLIMITED = { maxErrors: Number.MAX_SAFE_INTEGER };

const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const isRecord = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// An element of a list which is {"$error": message} fails on its own.
function special(value) {
  if (Array.isArray(value)) return value.map(special);
  if (isRecord(value) && typeof value.$error === 'string') return new Error(value.$error);
  return value;
}

function fieldResolver(source, args, _context, info) {
  const own = isRecord(source) && Object.hasOwn(source, info.fieldName);
  const value = own ? source[info.fieldName] : undefined;
  if (isRecord(value)) {
    if (Array.isArray(value.$find)) return found(value, args);
    if (typeof value.$error === 'string') throw new Error(value.$error);
    if (value.$echo === true) {
      // The arguments as coerced, in the order of the schema.
      const { args: declared } = info.parentType.getFields()[info.fieldName];
      const ordered = {};
      for (const { name } of declared) {
        if (Object.hasOwn(args, name)) ordered[name] = args[name];
      }
      return JSON.stringify(ordered);
    }
  }
  return special(page(value, args));
}

// The row whose `id` is the argument's.
function found(value, { id }) {
  const row = value.$find.find((one) => one.id === id);
  if (row === undefined && typeof value.$else === 'string') throw new Error(value.$else);
  return row ?? null;
}

// The part of a list which `limit` and `offset` ask for.
function page(value, { limit, offset }) {
  if (!Array.isArray(value)) return value;
  if (limit < 0 || offset < 0) throw new Error('negative');
  const start = offset ?? 0;
  return value.slice(start, start + (limit ?? value.length));
}

// The possible type which `__typename` in the data names.
function typeResolver(value, _context, info, abstractType) {
  const name = value?.__typename;
  if (typeof name !== 'string') {
    throw new Error(`No __typename in the data for the abstract type "${abstractType.name}".`);
  }
  const type = info.schema.getType(name);
  return isObjectType(type) ? type.name : name;
}

const located = (error) => ({
  message: error.message,
  locations: (error.locations ?? []).map(({ line, column }) => ({ line, column })),
});

function check(schema, document) {
  // All the rules at once give the order; each rule alone gives the names.
  const errors = validate(schema, document, RULES, UNLIMITED);
  if (errors.length === 0) return [];
  const named = [];
  for (const rule of RULES) {
    for (const error of validate(schema, document, [rule], UNLIMITED)) {
      named.push({ key: JSON.stringify(located(error)), rule: rule.name });
    }
  }
  return errors.map((error) => {
    const entry = located(error);
    const key = JSON.stringify(entry);
    const at = named.findIndex((one) => one.key === key);
    const rule = at < 0 ? null : named.splice(at, 1)[0].rule;
    return { ...entry, rule };
  });
}

function run(schema, rootValue, document, { variables, operationName }) {
  const result = execute({
    schema,
    document,
    rootValue,
    variableValues: variables,
    operationName,
    fieldResolver,
    typeResolver,
  });
  if (typeof result?.then === 'function') throw new Error('the execution was not synchronous');
  const errors = (result.errors ?? []).map((error) => ({
    ...located(error),
    path: error.path ? [...error.path] : null,
  }));
  // `data` is absent only when the execution did not start.
  if (!Object.hasOwn(result, 'data')) {
    const variable = result.errors.some((error) =>
      error.nodes?.some((node) => node.kind === 'VariableDefinition'),
    );
    return { kind: variable ? 'variables' : 'request', errors };
  }
  return { data: JSON.stringify(result.data), errors };
}

function answer(schema, data, request) {
  const { id } = request;
  let document;
  try {
    document = parse(request.query);
  } catch (error) {
    return { id, parse: located(error), validation: [], result: null };
  }
  const validation = check(schema, document);
  const result = validation.length > 0 ? null : run(schema, data, document, request);
  return { id, parse: null, validation, result };
}

let schema = null;
let data;
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line.trim() === '') continue;
  let message;
  try {
    message = JSON.parse(line);
    if (!isRecord(message)) throw new Error('not an object');
  } catch (error) {
    write({ fatal: `a line is not a JSON object: ${error.message}` });
    process.exitCode = 2;
    break;
  }
  if (schema === null) {
    try {
      schema = buildSchema(message.sdl);
      const [problem] = validateSchema(schema);
      if (problem) throw problem;
      data = message.data ?? {};
    } catch (error) {
      write({ fatal: `the schema is bad: ${error.message}` });
      process.exitCode = 1;
      break;
    }
    continue;
  }
  try {
    write(answer(schema, data, message));
  } catch (error) {
    // A fault of this program or of the data, not an answer.
    write({ id: message.id, fatal: error.stack });
    process.exitCode = 2;
    break;
  }
}

// After a `break` above, do not wait for the other side to close the pipe.
process.stdin.destroy();
