// Usage: node manifest.mjs TOOL SCHEMA.graphql FOLDER
// Has a tool make the manifests of its client in clients/, with the schema in a file: `apollo`, `relay`, or `codegen`,
// which makes one with SHA-1 and one with SHA-256. FOLDER, which has to be empty, gets a copy of the client and what the
// tool writes.
// Prints one JSON line: {"manifests": [PATH]}. Exit code: 0 good, 1 bad, 2 wrong usage.
import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [tool, schema, folder] = process.argv.slice(2);
const tools = { apollo, relay, codegen };
if (!(tool in tools) || !folder) {
  console.error(`usage: node manifest.mjs ${Object.keys(tools).join('|')} SCHEMA.graphql FOLDER`);
  process.exit(2);
}
const client = resolve(folder);
cpSync(join(here, 'clients', tool), client, { recursive: true });
console.log(JSON.stringify({ manifests: tools[tool]() }));

function apollo() {
  const manifest = join(client, 'persisted-query-manifest.json');
  const config = join(client, 'persisted-query-manifest.config.json');
  writeFileSync(config, JSON.stringify({ documents: [join(client, '*.js')], output: manifest }));
  run('generate-persisted-query-manifest', ['--config', config], here);
  return [manifest];
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
  return [manifest];
}

// Both at once, as the tool takes longer to start than to write.
function codegen() {
  const outputs = ['sha1', 'sha256'].map((hashAlgorithm) => [join(client, hashAlgorithm, 'gql/'), hashAlgorithm]);
  const output = ([folder, hashAlgorithm]) => [
    folder,
    { preset: 'client', presetConfig: { persistedDocuments: { hashAlgorithm } } },
  ];
  const config = join(client, 'codegen.json');
  const generates = Object.fromEntries(outputs.map(output));
  writeFileSync(config, JSON.stringify({ schema: resolve(schema), documents: [join(client, '*.ts')], generates }));
  run('graphql-codegen', ['--config', config], here);
  return outputs.map(([folder]) => join(folder, 'persisted-documents.json'));
}

// What the tool says goes to standard error, as the last line of the output is the answer.
function run(name, args, cwd) {
  execFileSync(join(here, 'node_modules/.bin', name), args, { cwd, stdio: ['ignore', 2, 2] });
}
