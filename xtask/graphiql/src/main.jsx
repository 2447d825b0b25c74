// The GraphiQL page. Everything comes from this bundle; nothing is fetched from another host.
import './csp.js';
import 'monaco-graphql/esm/monaco-editor.js';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { ToolbarButton } from '@graphiql/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '@graphiql/plugin-history/style.css';
import 'graphiql/graphiql.css';
import './page.css';

const script = document.currentScript;
const root = document.getElementById('graphiql');

// The worker is next to this script, wherever that is served.
const workerUrl = new URL('worker.js', script.src);
globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(workerUrl, { name: label }),
};

// A relative endpoint is resolved against the page, so that it keeps a path prefix.
const endpoint = new URL(root.dataset.endpoint, location.href);
endpoint.search = '';
endpoint.hash = '';
const socket = new URL(endpoint);
socket.protocol = endpoint.protocol === 'https:' ? 'wss:' : 'ws:';

const send = createGraphiQLFetcher({
  url: endpoint.href,
  subscriptionUrl: socket.href,
  enableIncrementalDelivery: false,
});

// Whether answers say how they were made, in `extensions.explain`.
let explain = false;
const fetcher = (request, options) => send(explain ? { ...request, extensions: { explain } } : request, options);

function ExplainButton() {
  const [pressed, setPressed] = useState(explain);
  const toggle = () => {
    explain = !pressed;
    setPressed(explain);
  };
  const label = pressed ? 'Answers are explained' : 'Explain the answers';
  return (
    <ToolbarButton label={label} aria-pressed={pressed} className="explain" onClick={toggle}>
      ?
    </ToolbarButton>
  );
}

// A question that this schema answers, and how to go on.
const defaultQuery = `# Run the query   Ctrl-Enter
# Complete        Ctrl-Space
# Prettify        Shift-Ctrl-P
#
# Variables and request headers: the panes below.
# Documentation of the schema: the book at the top left.

${root.dataset.question}`;

// A shared link has a query and its variables. It opens in a tab of its own and is not run; headers
// are nobody's but the user's, so a link cannot bring any.
const link = new URLSearchParams(location.search);

createRoot(root).render(
  <GraphiQL
    fetcher={fetcher}
    defaultQuery={defaultQuery}
    initialQuery={link.get('query') ?? undefined}
    initialVariables={link.get('query') === null ? undefined : (link.get('variables') ?? undefined)}
    isHeadersEditorEnabled
    shouldPersistHeaders
    inputValueDeprecation
    schemaDescription
  >
    <GraphiQL.Toolbar>
      {({ prettify, copy, merge }) => (
        <>
          {prettify}
          {merge}
          {copy}
          <ExplainButton />
        </>
      )}
    </GraphiQL.Toolbar>
  </GraphiQL>,
);
