// Usage: node graphiql.mjs URL SCREENSHOT.png
// Opens the GraphiQL page at URL in Chromium, runs a query in it and opens its documentation pane.
// Environment: CHROMIUM (/usr/bin/chromium), EXPLAIN (text of the explained answer, for which the query runs once more), QUERY ({ __typename }; `as opened` runs what the page opens with), EXPECT ("data"; text of the result,
// white space does not count), EXPECT_DOCS (Query; text of the documentation), TIMEOUT_MS (30000), HEADERS (JSON for
// the headers pane), HTTP_USER (name:password for the browser's own dialog).
// Prints one JSON line. Exit code: 0 all well, 1 not, 2 wrong usage. Not well is also: a request to another
// host, an error on the console or the page, a violation of the page's content security policy, no such
// policy, or Monaco running without its workers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url, screenshot] = process.argv.slice(2);
if (!url || !screenshot) {
  console.error('usage: node graphiql.mjs URL SCREENSHOT.png');
  process.exit(2);
}
const {
  CHROMIUM = '/usr/bin/chromium',
  QUERY = '{ __typename }',
  EXPECT = '"data"',
  EXPECT_DOCS = 'Query',
  TIMEOUT_MS = '30000',
  EXPLAIN,
  HEADERS,
  HTTP_USER,
} = process.env;
const timeout = Number(TIMEOUT_MS);
const { host } = new URL(url);

const report = {
  ok: false,
  error: null,
  csp: null,
  foreignRequests: [],
  consoleErrors: [],
  cspViolations: [],
  workers: [],
  result: null,
  headersAfterReload: null,
};

// Playwright's time limits do not hold for scripts in the page, nor for the end of the browser.
const hangs = () => {
  console.log(JSON.stringify({ ...report, error: report.error ?? 'the browser hangs' }));
  process.exit(1);
};
setTimeout(hangs, 4 * timeout).unref();

const isForeign = (address) => {
  const { protocol, host: other } = new URL(address);
  return protocol !== 'data:' && protocol !== 'blob:' && other !== host;
};
const credentials = (text) => {
  const end = text.indexOf(':');
  return { username: text.slice(0, end), password: text.slice(end + 1) };
};
const squeeze = (text) => text.replaceAll(/\s/g, '');

const profile = await mkdtemp(join(tmpdir(), 'graphiql-'));
let context;
let page;
try {
  context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    viewport: { width: 1400, height: 900 },
    ...(HTTP_USER && { httpCredentials: credentials(HTTP_USER) }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  context.setDefaultTimeout(timeout);
  page = context.pages()[0] ?? (await context.newPage());

  await context.route('**/*', (route) => {
    const address = route.request().url();
    if (!isForeign(address)) return route.continue();
    report.foreignRequests.push(address);
    return route.abort();
  });
  page.on('websocket', (socket) => {
    if (isForeign(socket.url())) report.foreignRequests.push(socket.url());
  });
  page.on('worker', (worker) => report.workers.push(worker.url()));
  page.on('pageerror', (error) => report.consoleErrors.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (/Content Security Policy/i.test(text)) {
      report.cspViolations.push(text);
    } else if (message.type() === 'error' || /web worker/i.test(text)) {
      report.consoleErrors.push(`${text} (${message.location().url})`);
    }
  });
  await page.exposeBinding('__reportViolation', (_source, violation) => {
    report.cspViolations.push(violation);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      window.__reportViolation(
        `${event.effectiveDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber} ${event.sample}`,
      );
    });
  });

  const response = await page.goto(url, { waitUntil: 'load' });
  if (!response.ok()) throw new Error(`the page answered with status ${response.status()}`);
  report.csp = response.headers()['content-security-policy'] ?? null;
  if (!report.csp) throw new Error('the page has no content security policy');

  // The query.
  await page.locator('.graphiql-query-editor .monaco-editor .view-lines').waitFor();
  await page.locator('.graphiql-query-editor .monaco-editor .view-lines').click();
  if (QUERY !== 'as opened') await type(QUERY);

  // The headers.
  if (HEADERS) {
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.evaluate((headers) => {
      const models = globalThis.__MONACO.editor.getModels();
      models.find(({ uri }) => uri.path.endsWith('request-headers.json')).setValue(headers);
    }, HEADERS);
    await page.locator('.graphiql-query-editor .monaco-editor .view-lines').click();
  }

  // GraphiQL chooses between HTTP and the socket by its own reading of the text, which is behind by some moments.
  if (QUERY.startsWith('subscription')) await page.waitForTimeout(1500);

  // The result.
  await run(EXPECT);

  // The documentation.
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  const docs = page.locator('.graphiql-doc-explorer');
  await docs.getByText(EXPECT_DOCS).first().waitFor();

  // Headers stay.
  if (HEADERS) {
    // GraphiQL keeps them after a moment.
    const kept = () => page.evaluate(() => localStorage.getItem('graphiql:headers'));
    await until('the headers are kept', async () => (await kept()) === HEADERS);
    await page.reload({ waitUntil: 'load' });
    await page.locator('.graphiql-query-editor .monaco-editor .view-lines').waitFor();
    await until('the headers are there again', async () => {
      report.headersAfterReload = await text('request-headers.json');
      return report.headersAfterReload === HEADERS;
    });
  }

  await page.waitForTimeout(1000); // for late faults, and for the colours of the editors
  await page.screenshot({ path: screenshot });

  // The explanation.
  if (EXPLAIN) {
    await page.getByRole('button', { name: 'Explain the answers' }).click();
    await page.getByRole('button', { name: 'Answers are explained' }).waitFor();
    await page.locator('.graphiql-query-editor .monaco-editor .view-lines').click();
    await run(EXPLAIN);
    await page.waitForTimeout(1000); // for late faults
  }

  if (report.workers.length === 0) throw new Error('no worker was started');
} catch (error) {
  report.error = error.message;
  await page?.screenshot({ path: screenshot, timeout: 5000 }).catch(() => {});
} finally {
  await context?.close().catch(() => {});
  await rm(profile, { recursive: true, force: true, maxRetries: 5 }).catch(() => {});
}

// Puts a query in the place of the one that is there.
async function type(query) {
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(query);
  await page.keyboard.press('Escape'); // no suggestions
  const typed = await page.evaluate((query) => {
    // The editor closes brackets on its own; GraphiQL lets us see the text which is really there.
    const model = globalThis.__MONACO.editor
      .getModels()
      .find(({ uri }) => uri.path.endsWith('operation.graphql'));
    if (model.getValue() !== query) model.setValue(query);
    return model.getValue();
  }, query);
  if (squeeze(typed) !== squeeze(query)) throw new Error(`the editor shows ${typed}`);
}

// Runs the query, and waits until the result pane shows a text.
async function run(expected) {
  await page.keyboard.press('Control+Enter');
  const result = page.locator('.result-window .view-lines');
  const deadline = Date.now() + timeout;
  for (;;) {
    // Only the lines in view are on the page; the model has them all.
    const shown = (await result.count()) ? squeeze(await result.first().innerText()) : '';
    report.result = await text('response.json');
    if (shown && squeeze(report.result ?? '').includes(squeeze(expected))) break;
    if (Date.now() > deadline) throw new Error(`the result pane does not show ${expected}`);
    await page.waitForTimeout(50);
  }
}

// Waits until a look at the page finds what it should.
async function until(what, look) {
  const deadline = Date.now() + timeout;
  while (!(await look())) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await page.waitForTimeout(50);
  }
}

// The text in one of the editors.
function text(name) {
  return page.evaluate(
    (name) =>
      globalThis.__MONACO.editor
        .getModels()
        .find(({ uri }) => uri.path.endsWith(name))
        ?.getValue() ?? null,
    name,
  );
}

report.ok =
  report.error === null &&
  report.foreignRequests.length === 0 &&
  report.consoleErrors.length === 0 &&
  report.cspViolations.length === 0;
console.log(JSON.stringify(report));
process.exitCode = report.ok ? 0 : 1;
