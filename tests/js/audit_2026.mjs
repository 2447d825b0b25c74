// Usage: node audit_2026.mjs URL [PARTIAL]
// Audits URL against the draft of GraphQL over HTTP of August 2026, and the method QUERY as it is
// proposed (graphql/graphql-over-http#411). It works with any schema, and needs no packages.
// PARTIAL is a document whose response has data and errors; without it, these audits are skipped.
// Prints one JSON line for each: {id, level, status, reason}. GET, QUERY and mutations are skipped
// where the server does not support them.
// Exit code: 0 none is bad, 1 some are, 2 wrong usage.

const [url, partial] = process.argv.slice(2);
if (!url) {
  console.error('usage: node audit_2026.mjs URL [PARTIAL]');
  process.exit(2);
}

const RESPONSE = 'application/graphql-response+json';
const TYPENAME = '{ __typename }';
const TWO = 'query A { __typename } query B { __typename }';
const FLAG = 'query ($on: Boolean!) { __typename @include(if: $on) }';
const MUTATION = 'mutation { __typename }';

// Requests that each method can send. `data` is whether the response has data.
const REQUESTS = [
  { id: 'query', parameters: { query: TYPENAME }, want: 200, data: true },
  { id: 'unknown-parameter', parameters: { query: TYPENAME, other: 'x' }, level: 'MUST', want: 200, data: true },
  { id: 'variables', parameters: { query: FLAG, variables: { on: true } }, want: 200, data: true },
  { id: 'operation-name', parameters: { query: TWO, operationName: 'B' }, want: 200, data: true },
  { id: 'document-syntax', parameters: { query: '{' }, want: 400 },
  { id: 'document-invalid', parameters: { query: '{ fieldThatNoSchemaHas }' }, want: 422 },
  { id: 'operation-ambiguous', parameters: { query: TWO }, want: 422 },
  { id: 'operation-unknown', parameters: { query: TWO, operationName: 'C' }, want: 422 },
  { id: 'variable-missing', parameters: { query: FLAG }, want: 422 },
  { id: 'variable-wrong', parameters: { query: FLAG, variables: { on: 'x' } }, want: 422 },
  { id: 'query-missing', parameters: { qeury: TYPENAME }, want: 422 },
  { id: 'variables-list', parameters: { query: TYPENAME, variables: [7] }, want: 422 },
];

// Bodies of POST and QUERY.
const BODIES = [
  {
    id: 'null-parameters',
    body: { query: TYPENAME, operationName: null, variables: null, extensions: null },
    want: 200,
    data: true,
  },
  { id: 'body-syntax', body: 'NONSENSE', want: 400 },
  { id: 'body-truncated', body: '{"query":', want: 400 },
  { id: 'body-number', body: 7, want: 422 },
  { id: 'query-number', body: { query: 7 }, want: 422 },
  { id: 'operation-name-number', body: { query: TYPENAME, operationName: 7 }, want: 422 },
  { id: 'variables-text', body: { query: TYPENAME, variables: '{}' }, want: 422 },
];

let failed = false;

function report(id, level, status, reason) {
  if (status === 'bad') failed = true;
  console.log(JSON.stringify({ id, level, status, reason }));
}

// Runs an audit, which returns a reason if the response is bad.
async function audit(id, level, run) {
  let reason;
  try {
    reason = await run();
  } catch (error) {
    reason = String(error?.cause ?? error);
  }
  report(id, level, reason ? 'bad' : 'ok', reason || undefined);
}

async function send(method, parameters, { accept = RESPONSE, type = 'application/json' } = {}) {
  const headers = { accept };
  let target = url;
  let body;
  if (method === 'GET') {
    const address = new URL(url);
    for (const [name, value] of Object.entries(parameters)) {
      address.searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    target = address.href;
  } else if (parameters !== undefined) {
    const text = typeof parameters === 'string' ? parameters : JSON.stringify(parameters);
    // `fetch` adds a media type to text, but not to bytes.
    body = new TextEncoder().encode(text);
    if (type) headers['content-type'] = type;
  }
  const response = await fetch(target, { method, headers, body });
  const { status } = response;
  return { status, header: (name) => response.headers.get(name) ?? '', text: await response.text() };
}

// What is wrong with a GraphQL response, if anything.
function flaw({ status, header, text }, want, hasData) {
  if (status !== want) return `the status is ${status} in place of ${want}: ${text.slice(0, 200)}`;
  if (!header('content-type').startsWith(RESPONSE)) return `the media type is ${header('content-type')}`;
  const json = JSON.parse(text);
  if ('data' in json !== hasData) return hasData ? 'there is no data' : 'there is data';
  if (want !== 200 && !(json.errors?.length > 0)) return 'there are no errors';
  return want === 200 && 'errors' in json ? 'there are errors' : undefined;
}

const is4xx = ({ status }) => (status >= 400 && status < 500 ? undefined : `the status is ${status}`);
const has = (reply, want) => (reply.status === want ? undefined : `the status is ${reply.status} in place of ${want}`);

async function supports(method) {
  return (await send(method, { query: TYPENAME })).status === 200;
}

async function auditMethod(method) {
  const sent = method === 'GET' ? [] : BODIES.map(({ body, ...rest }) => ({ parameters: body, ...rest }));
  for (const { id, parameters, level = 'SHOULD', want, data = false } of [...REQUESTS, ...sent]) {
    await audit(`${method}/${id}`, level, async () => flaw(await send(method, parameters), want, data));
  }

  const [id, level] = [`${method}/partial-success`, 'SHOULD'];
  if (partial) await audit(id, level, async () => flaw(await send(method, { query: partial }), 294, true));
  else report(id, level, 'skipped', 'no document that fails partially is given');

  await audit(`${method}/not-acceptable`, 'SHOULD', async () =>
    has(await send(method, { query: TYPENAME }, { accept: 'image/png' }), 406));
  await audit(`${method}/json`, 'SHOULD', async () => {
    const reply = await send(method, { query: TYPENAME }, { accept: 'application/json' });
    const isJson = reply.header('content-type').startsWith('application/json');
    return has(reply, 200) ?? (isJson ? undefined : `the media type is ${reply.header('content-type')}`);
  });
  if (method === 'GET') return;

  await audit(`${method}/content-type-missing`, 'SHOULD', async () =>
    is4xx(await send(method, { query: TYPENAME }, { type: null })));
  await audit(`${method}/content-type-unknown`, 'SHOULD', async () =>
    has(await send(method, { query: TYPENAME }, { type: 'application/x-unknown' }), 415));
}

async function auditMutations(methods) {
  const hasMutations = (await send('POST', { query: MUTATION })).status === 200;
  for (const [method, want] of [['GET', 405], ['QUERY', 422]].filter(([method]) => methods.includes(method))) {
    if (!hasMutations) {
      report(`${method}/mutation`, 'MUST', 'skipped', 'the schema has no mutations');
      continue;
    }
    let reply;
    await audit(`${method}/mutation`, 'MUST', async () => {
      reply = await send(method, { query: MUTATION });
      return is4xx(reply) ?? ('data' in JSON.parse(reply.text) ? 'it was executed' : undefined);
    });
    await audit(`${method}/mutation-status`, 'SHOULD', async () =>
      has(reply, want) ?? (want === 405 && !reply.header('allow') ? '`Allow` is missing' : undefined));
  }
}

await auditMethod('POST');
const methods = ['POST'];
for (const method of ['GET', 'QUERY']) {
  if (await supports(method)) {
    methods.push(method);
    await auditMethod(method);
  } else {
    report(method, 'MAY', 'skipped', 'the server does not support the method');
  }
}
await auditMutations(methods);
await audit('unsupported-method', 'SHOULD', async () => {
  const reply = await send('DELETE', undefined);
  return has(reply, 405) ?? (reply.header('allow') ? undefined : '`Allow` is missing');
});
process.exitCode = failed ? 1 : 0;
