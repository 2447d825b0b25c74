// Usage: node live_page.mjs URL
// Opens a page in Chromium and waits until its list has three items.
// Environment: CHROMIUM (/usr/bin/chromium). Prints one JSON line: {items, errors}. Exit code: 0 all well, 1 not, 2
// wrong usage.
import { chromium } from 'playwright-core';

const [url] = process.argv.slice(2);
if (!url) {
  console.error('usage: node live_page.mjs URL');
  process.exit(2);
}
const report = { items: [], errors: [] };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
try {
  const page = await browser.newPage();
  page.on('pageerror', (error) => report.errors.push(String(error)));
  await page.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
  page.on('console', (message) => message.type() === 'error' && report.errors.push(message.text()));
  await page.goto(url);
  await page.locator('li').nth(2).waitFor({ timeout: 20_000 });
  report.items = await page.locator('li').allInnerTexts();
} catch (error) {
  report.errors.push(error.message);
} finally {
  await browser.close();
}
console.log(JSON.stringify(report));
process.exitCode = report.errors.length === 0 ? 0 : 1;
