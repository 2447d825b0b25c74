// Monaco's three workers in one file. `getWorker` passes the label as the name of the worker.
// `require` rather than `import`: only the chosen worker is set up, and before the first message.
switch (self.name) {
  case 'json':
    require('monaco-editor/esm/vs/language/json/json.worker.js');
    break;
  case 'graphql':
    require('monaco-graphql/esm/graphql.worker.js');
    break;
  default:
    require('monaco-editor/esm/vs/editor/editor.worker.js');
}
