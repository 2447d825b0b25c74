// Usage: node audit.mjs URL
// Runs every audit of the GraphQL-over-HTTP specification (graphql-http) against URL.
// Prints one JSON line for each. Exit code: 0 all ok, 1 some are not, 2 wrong usage.
import { serverAudits } from 'graphql-http';

const [url] = process.argv.slice(2);
if (!url) {
  console.error('usage: node audit.mjs URL');
  process.exit(2);
}

const audits = serverAudits({ url, fetchFn: fetch });
let failed = audits.length === 0;
for (const { id, name, fn } of audits) {
  let result;
  try {
    result = await fn();
  } catch (error) {
    // Not an answer which breaks a rule, but no usable answer at all.
    result = { status: 'error', reason: String(error?.cause ?? error) };
  }
  const { status, reason } = result;
  if (status !== 'ok') failed = true;
  console.log(JSON.stringify({ id, name, status, reason }));
}
process.exitCode = failed ? 1 : 0;
