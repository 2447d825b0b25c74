// Builds svc/assets/graphiql from src/ and the pinned packages. `--check` writes nothing, and fails
// when what is committed differs from what would be built.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, '../../svc/assets/graphiql');
const check = process.argv.includes('--check');

const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'iife',
  target: ['chrome109', 'firefox115', 'safari16'],
  charset: 'utf8',
  legalComments: 'none', // all of them are in LICENSES.txt
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: 'automatic',
  alias: { 'prettier/parser-graphql': 'prettier/plugins/graphql' }, // the same module, twice otherwise
  loader: { '.ttf': 'dataurl' },
  outdir: 'out',
  logLevel: 'warning',
};

const page = await build({ ...common, entryPoints: { graphiql: 'src/main.jsx' } });
const worker = await build({ ...common, entryPoints: { worker: 'src/worker.js' } });

const files = new Map();
for (const { path, contents } of [...page.outputFiles, ...worker.outputFiles]) {
  files.set(path.slice(dirname(path).length + 1), Buffer.from(contents));
}
for (const name of ['graphiql.js', 'graphiql.css', 'worker.js']) {
  if (!files.has(name)) throw new Error(`${name} was not built`);
}
if (files.size !== 3) throw new Error(`unexpected outputs: ${[...files.keys()]}`);

let changed = false;
for (const [name, contents] of files) put(`${name}.gz`, contents, true);
put('LICENSES.txt', Buffer.from(licences()), false);
if (check && changed) process.exit(1);
if (!check) writeSums();

function put(name, contents, gzip) {
  const path = join(out, name);
  let data = contents;
  if (gzip) {
    data = gzipSync(contents, { level: 9 }); // no time and no name in the header
    data[9] = 255; // the operating system in the header: unknown
  }
  console.log(`${name} ${data.length}${gzip ? ` (${contents.length} unpacked)` : ''}`);
  if (!check) {
    mkdirSync(out, { recursive: true });
    writeFileSync(path, data);
    return;
  }
  // Compare what is inside: the packed bytes may depend on the zlib of this Node.
  const old = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  if (!contents.equals(gzip && old.length ? gunzipSync(old) : old)) {
    console.error(`${name} differs from what is built`);
    changed = true;
  }
}

// The sums of what was built and of what it was built from, which `cargo xtask tidy` compares.
function writeSums() {
  const root = join(here, '../..');
  const inputs = ['build.mjs', 'package-lock.json', 'package.json', ...readdirSync(join(here, 'src')).map((name) => `src/${name}`)];
  const paths = [
    ...readdirSync(out).map((name) => `svc/assets/graphiql/${name}`),
    ...inputs.map((name) => `xtask/graphiql/${name}`),
  ].sort();
  const line = (path) => `${createHash('sha256').update(readFileSync(join(root, path))).digest('hex')}  ${path}\n`;
  writeFileSync(join(here, 'vendored.sha256'), paths.map(line).join(''));
}

function licenceSources() {
  return {
    '@graphiql/plugin-doc-explorer': 'graphiql',
    '@graphiql/plugin-history': 'graphiql',
    'react-compiler-runtime': 'react',
    'react-remove-scroll-bar': 'react-remove-scroll',
  };
}

// One section for each package with code in the outputs.
function licences() {
  const roots = new Set();
  for (const { outputs } of [page.metafile, worker.metafile]) {
    for (const { inputs } of Object.values(outputs)) {
      for (const input of Object.keys(inputs)) {
        const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
        if (match && inputs[input].bytesInOutput > 0) roots.add(match[1]);
      }
    }
  }
  const sameLicence = licenceSources();
  const sections = [];
  for (const root of roots) {
    const dir = join(here, root);
    const meta = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const texts = readdirSync(dir)
      .filter((name) => /^(licen[cs]e|notice|third-?party-?notices?|copying)([-.].*)?$/i.test(name))
      .sort()
      .map((name) => readFileSync(join(dir, name), 'utf8').replace(/\r\n/g, '\n').trim());
    if (texts.length === 0) {
      // Published without its licence file: take it from a package of the same authors and licence.
      const from = sameLicence[meta.name];
      if (!from) throw new Error(`${meta.name} ${meta.version} has no licence text`);
      texts.push(readFileSync(join(here, 'node_modules', from, 'LICENSE'), 'utf8').trim());
    }
    sections.push([`${meta.name} ${meta.version} (${meta.license})`, texts.join('\n\n')]);
  }
  sections.sort(([a], [b]) => (a < b ? -1 : 1));
  const rule = '='.repeat(80);
  return (
    `The files in this directory contain code of the following packages.\n\n` +
    sections.map(([title]) => `  ${title}\n`).join('') +
    sections.map(([title, text]) => `\n${rule}\n${title}\n${rule}\n\n${text}\n`).join('')
  );
}
