// Usage: node manifest.mjs TOOL SCHEMA.graphql FOLDER
// Has a tool make the manifest of its client in clients/, with the schema in a file: `apollo`, `relay`, `codegen`, or
// `codegen-sha256`. FOLDER, which has to be empty, gets a copy of the client and what the tool writes.
// Prints one JSON line: {"manifest": PATH}. Exit code: 0 good, 1 bad, 2 wrong usage.
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [tool, schema, folder] = process.argv.slice(2);
const tools = { apollo, relay, codegen: () => codegen('sha1'), 'codegen-sha256': () => codegen('sha256') };
if (!(tool in tools) || !folder) {
  console.error(`usage: node manifest.mjs ${Object.keys(tools).join('|')} SCHEMA.graphql FOLDER`);
  process.exit(2);
}
const client = resolve(folder);
cpSync(join(here, 'clients', tool.split('-')[0]), client, { recursive: true });
console.log(JSON.stringify({ manifest: tools[tool]() }));

function apollo() {
  const manifest = join(client, 'persisted-query-manifest.json');
  const config = join(client, 'persisted-query-manifest.config.json');
  writeFileSync(config, JSON.stringify({ documents: [join(client, '*.js')], output: manifest }));
  run('generate-persisted-query-manifest', ['--config', config], here);
  return manifest;
}

function relay() {
  const manifest = join(client, 'persisted_queries.json');
  cpSync(schema, join(client, 'schema.graphql'));
  const persistConfig = { file: 'persisted_queries.json' };
  const config = { src: '.', language: 'javascript', schema: 'schema.graphql', persistConfig };
  writeFileSync(join(client, 'relay.config.json'), JSON.stringify(config));
  writeFileSync(join(client, 'package.json'), '{}');
  // The compiler adds to what is there.
  writeFileSync(manifest, '{}');
  run('relay-compiler', ['relay.config.json'], client);
  return manifest;
}

function codegen(hashAlgorithm) {
  const output = join(client, 'gql/');
  const persistedDocuments = { hashAlgorithm };
  const generates = { [output]: { preset: 'client', presetConfig: { persistedDocuments } } };
  const config = join(client, 'codegen.json');
  writeFileSync(config, JSON.stringify({ schema: resolve(schema), documents: [join(client, '*.ts')], generates }));
  run('graphql-codegen', ['--config', config], here);
  return join(output, 'persisted-documents.json');
}

// What the tool says goes to standard error, as the last line of the output is the answer.
function run(name, args, cwd) {
  execFileSync(join(here, 'node_modules/.bin', name), args, { cwd, stdio: ['ignore', 2, 2] });
}
