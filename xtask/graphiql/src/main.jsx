// The GraphiQL page. Everything comes from this bundle; nothing is fetched from another host.
import './csp.js';
import 'monaco-graphql/esm/monaco-editor.js';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
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

const fetcher = createGraphiQLFetcher({
  url: endpoint.href,
  subscriptionUrl: socket.href,
  enableIncrementalDelivery: false,
});

const defaultQuery = `# Write a query here and run it.
#
#   Run the query   Ctrl-Enter
#   Complete        Ctrl-Space
#   Prettify        Shift-Ctrl-P
#
# Variables and request headers:
# the panes below.
# Documentation of the schema:
# the book at the top left.
#
# Every server answers this query:

{
  __typename
}
`;

createRoot(root).render(
  <GraphiQL
    fetcher={fetcher}
    defaultQuery={defaultQuery}
    isHeadersEditorEnabled
    inputValueDeprecation
    schemaDescription
  />,
);
