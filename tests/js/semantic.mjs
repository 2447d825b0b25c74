// Usage: node semantic.mjs SCHEMA.graphql FOLDER
// Has Relay's compiler make the types of a client from the schema of a service, in FOLDER, which has to be empty. The
// client selects the fields `grade` and `note` of the field `tutor`, with `@throwOnFieldError` and without it.
// Prints one JSON line: {"directive": SDL, "strict": TYPES, "loose": TYPES}. Exit code: 0 good, 1 bad, 2 wrong usage.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSchema, validateSchema } from 'graphql';

const here = dirname(fileURLToPath(import.meta.url));
const [schema, folder] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node semantic.mjs SCHEMA.graphql FOLDER');
  process.exit(2);
}

const sdl = readFileSync(schema, 'utf8');
const built = buildSchema(sdl);
const mistakes = validateSchema(built);
if (mistakes.length > 0) {
  console.error(mistakes.map(String).join('\n'));
  process.exit(1);
}

const generated = join(folder, 'generated');
mkdirSync(generated);
writeFileSync(join(folder, 'schema.graphql'), sdl);
writeFileSync(join(folder, 'package.json'), '{}');
writeFileSync(join(folder, 'tutor.ts'), `
import { graphql } from 'relay-runtime';
export const strict = graphql\`query tutorStrictQuery @throwOnFieldError { tutor { grade note } }\`;
export const loose = graphql\`query tutorLooseQuery { tutor { grade note } }\`;
`);
const config = { src: '.', language: 'typescript', schema: 'schema.graphql', artifactDirectory: './generated' };
writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config));
const compiler = join(here, 'node_modules/.bin/relay-compiler');
// What the compiler says goes to standard error.
execFileSync(compiler, ['relay.config.json'], { cwd: folder, stdio: ['ignore', 2, 2] });

const types = (name) => readFileSync(join(generated, `${name}.graphql.ts`), 'utf8');
const { args, locations, isRepeatable } = built.getDirective('semanticNonNull');
const directive = `(${args.map((arg) => `${arg.name}: ${arg.type} = ${JSON.stringify(arg.defaultValue)}`)}) on ${locations}`;
console.log(JSON.stringify({
  directive: isRepeatable ? `${directive} repeatable` : directive,
  strict: types('tutorStrictQuery'),
  loose: types('tutorLooseQuery'),
}));
