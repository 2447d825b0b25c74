// Usage: node subscriptions.mjs URL
// Subscribes with clients that others wrote. The service has `subscription { ticks(count: Int!) }`, which counts to a
// number, `forever`, which has one event and does not end, `refused`, and `query { hello }`.
// Prints one JSON line for each client: {client, ticks, query, stopped, refused}. Exit code: 0 all well, 1 not, 2
// wrong usage.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import relay from 'relay-runtime';
import WebSocket from 'ws';

const [url] = process.argv.slice(2);
if (!url) {
  console.error('usage: node subscriptions.mjs URL');
  process.exit(2);
}
// Apollo's link compares errors with it, which older Nodes do not have.
globalThis.WebSocket ??= WebSocket;
const socketUrl = url.replace(/^http/, 'ws');
const sockets = () => createWsClient({ url: socketUrl, webSocketImpl: WebSocket, retryAttempts: 0 });

const TICKS = 'subscription Ticks { ticks(count: 3) }';
const FOREVER = 'subscription Forever { forever }';
const REFUSED = 'subscription Refused { refused }';
const QUERY = 'query Hello { hello }';

// Each client is `subscribe(query, sink)`, which returns a function that stops it.
const clients = {
  'graphql-ws': () => {
    const client = sockets();
    return {
      subscribe: (query, sink) => client.subscribe({ query }, sink),
      close: () => client.dispose(),
    };
  },
  'graphql-sse': () => {
    const client = createSseClient({ url, singleConnection: false, retryAttempts: 0 });
    return {
      subscribe: (query, sink) => client.subscribe({ query }, sink),
      close: () => client.dispose(),
    };
  },
  'Apollo Client over WebSocket': () => {
    const client = sockets();
    return { ...apollo(new GraphQLWsLink(client)), close: () => client.dispose() };
  },
  'Apollo Client over multipart': () => apollo(new HttpLink({ uri: url })),
  'urql over WebSocket': () => {
    const client = sockets();
    const forward = ({ query, variables }) => ({
      subscribe: (sink) => ({ unsubscribe: client.subscribe({ query, variables }, sink) }),
    });
    const exchange = subscriptionExchange({ forwardSubscription: forward, enableAllOperations: true });
    return { ...urql(exchange), close: () => client.dispose() };
  },
  'urql over server-sent events': () => urql(fetchExchange),
  'Relay’s network layer': () => {
    const client = sockets();
    const execute = ({ text }) =>
      relay.Observable.create((sink) => client.subscribe({ query: text }, sink));
    const network = relay.Network.create(execute, execute);
    return {
      subscribe: (query, sink) => {
        const kind = query.split(' ')[0];
        const params = { id: null, text: query, name: 'Any', operationKind: kind, metadata: {} };
        const observer = { next: sink.next, error: sink.error, complete: sink.complete };
        return network.execute(params, {}, {}).subscribe(observer).unsubscribe;
      },
      close: () => client.dispose(),
    };
  },
};

function apollo(link) {
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  return {
    subscribe: (query, sink) => {
      const request = { query: gql(query), fetchPolicy: 'no-cache' };
      const observable = query.startsWith('query')
        ? ApolloLink.execute(link, { query: gql(query) }, { client })
        : client.subscribe(request);
      // Apollo tells errors with the value.
      const next = ({ data, error, errors }) => sink.next({ data, errors: errors ?? (error && [error]) });
      const subscription = observable.subscribe({ ...sink, next });
      return () => subscription.unsubscribe();
    },
    close: () => client.stop(),
  };
}

function urql(exchange) {
  const client = new Client({
    url,
    exchanges: [exchange],
    fetchSubscriptions: exchange === fetchExchange,
    requestPolicy: 'network-only',
    preferGetMethod: false,
  });
  return {
    subscribe: (query, sink) => {
      const source = client[query.startsWith('query') ? 'query' : 'subscription'](query, {});
      let last;
      const results = source.subscribe(({ data, error, hasNext }) => {
        if (error) sink.error(error);
        // The end repeats the last result.
        else if (data && data !== last) sink.next({ data });
        last = data;
        if (!hasNext && !error) sink.complete();
      });
      return results.unsubscribe;
    },
    close: () => {},
  };
}

// All results of an operation, until its end or its error.
const all = ({ subscribe }, query) =>
  new Promise((resolve) => {
    const results = [];
    const errors = (error) => (Array.isArray(error) ? error : [error]);
    subscribe(query, {
      next: (result) => results.push(result.errors?.length ? { failed: result.errors[0].message } : result.data),
      error: (error) => resolve([...results, { failed: errors(error)[0].message }]),
      complete: () => resolve(results),
    });
  });

// The first result of an operation that is stopped then.
const first = ({ subscribe }, query) =>
  new Promise((resolve, reject) => {
    const stop = subscribe(query, {
      next: ({ data }) => setTimeout(() => { stop(); resolve(data); }),
      error: reject,
      complete: () => {},
    });
  });

let isWell = true;
for (const [name, open] of Object.entries(clients)) {
  const client = open();
  const report = {
    client: name,
    ticks: (await all(client, TICKS)).map((data) => data.ticks ?? data),
    query: (await all(client, QUERY)).map((data) => data.hello ?? data),
    stopped: (await first(client, FOREVER)).forever,
    refused: (await all(client, REFUSED)).map((data) => data.failed ?? data),
  };
  client.close();
  const expected = { ticks: [1, 2, 3], query: ['hello, world'], stopped: 1 };
  const fits = Object.entries(expected).every(([key, value]) => JSON.stringify(report[key]) === JSON.stringify(value));
  isWell &&= fits && report.refused.length === 1 && /not for you/.test(report.refused[0]);
  console.log(JSON.stringify(report));
}
process.exit(isWell ? 0 : 1);
