// Usage: node accounts.mjs URL
// Opens the page of examples/accounts in Chromium: registers, is refused a weak password, sees who it is, logs out,
// logs in with a wrong password and with the right one, and logs out again.
// Environment: CHROMIUM (/usr/bin/chromium), TIMEOUT_MS (30000).
// Prints one JSON line. Exit code: 0 all well, 1 not, 2 wrong usage. Not well is also: an error on the page.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [url] = process.argv.slice(2);
if (!url) {
  console.error('usage: node accounts.mjs URL');
  process.exit(2);
}
const { CHROMIUM = '/usr/bin/chromium', TIMEOUT_MS = '30000' } = process.env;
const report = { ok: false, error: null, steps: [], pageErrors: [] };
const profile = await mkdtemp(join(tmpdir(), 'accounts-'));
let context;
try {
  context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  context.setDefaultTimeout(Number(TIMEOUT_MS));
  const page = context.pages()[0] ?? (await context.newPage());
  page.on('pageerror', (error) => report.pageErrors.push(String(error)));
  await page.goto(url);

  const fill = async (form, values) => {
    for (const [name, value] of Object.entries(values)) await page.fill(`#${form} [name=${name}]`, value);
    await page.click(`#${form} button`);
  };
  const expect = async (selector, text) => {
    await page.locator(selector).filter({ hasText: text }).waitFor({ state: 'visible' });
    report.steps.push(text);
  };
  const ada = { username: 'Ada', email: 'ada@example.com' };

  await fill('register', { ...ada, password: 'weak' });
  await expect('#message', 'at least 15 characters');
  await fill('register', { ...ada, password: 'Correct-horse-7' });
  await expect('#me', 'ada (ada@example.com)');
  await page.click('#logout');
  await expect('#message', 'logged out');

  await fill('login', { username: 'ada', password: 'Wrong-horse-7' });
  await expect('#message', 'the username or the password is wrong');
  await fill('login', { username: 'ADA', password: 'Correct-horse-7' });
  await expect('#me', 'ada (ada@example.com)');
  await page.click('#logout');
  await expect('#message', 'logged out');
  report.ok = report.pageErrors.length === 0;
} catch (error) {
  report.error = String(error);
} finally {
  await context?.close();
  await rm(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(report));
process.exit(report.ok ? 0 : 1);
