// An OpenID provider on loopback: node oidc.mjs CERTIFICATE KEY, both PEM. Prints {issuer}. Each line {path, form} of
// stdin is posted to it by its client, and answered by a line of JSON. It ends with stdin.
import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import { createInterface } from 'node:readline';
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from 'oidc-provider';

// What the library remarks must not come between the answers.
console.info = console.error;

const [certificate, key] = process.argv.slice(2).map((file) => readFileSync(file));
const server = createServer({ cert: certificate, key });
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `https://127.0.0.1:${server.address().port}`;

const signing = (kind, options, kid, alg) => {
  const { privateKey } = generateKeyPairSync(kind, options);
  return { ...privateKey.export({ format: 'jwk' }), kid, alg, use: 'sig' };
};
const algorithms = { 'https://es.example': 'ES256', 'https://eddsa.example': 'EdDSA', 'https://ps.example': 'PS256' };
const provider = new Provider(issuer, {
  jwks: {
    keys: [
      signing('rsa', { modulusLength: 2048 }, 'rsa', 'RS256'),
      signing('rsa', { modulusLength: 2048 }, 'pss', 'PS256'),
      signing('ec', { namedCurve: 'P-256' }, 'ec', 'ES256'),
      signing('ed25519', {}, 'ed', 'EdDSA'),
    ],
  },
  clients: [
    {
      client_id: 'shop',
      client_secret: 'a secret of the tests',
      grant_types: ['client_credentials', 'urn:openid:params:grant-type:ciba'],
      backchannel_token_delivery_mode: 'poll',
      redirect_uris: [],
      response_types: [],
      scope: 'openid posts:read posts:write',
    },
  ],
  scopes: ['openid', 'posts:read', 'posts:write'],
  ttl: { AccessToken: 3600, BackchannelAuthenticationRequest: 60, ClientCredentials: 3600, Grant: 3600, IdToken: 3600 },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, 'https://api.example/roles': ['editor'] }) }),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    // Whoever is named agrees at once: the one flow in which a user logs in to a client without a browser.
    ciba: {
      enabled: true,
      deliveryModes: ['poll'],
      processLoginHint: (_, name) => name,
      verifyUserCode: () => {},
      validateRequestContext: () => {},
      triggerAuthenticationDevice: async (ctx, asked, account, client) => {
        const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
        grant.addOIDCScope('openid');
        await grant.save();
        await provider.backchannelResult(asked, grant);
      },
    },
    introspection: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({
        scope: 'posts:read posts:write',
        audience: resource,
        accessTokenTTL: 3600,
        accessTokenFormat: resource.includes('opaque') ? 'opaque' : 'jwt',
        jwt: { sign: { alg: algorithms[resource] ?? 'RS256' } },
      }),
    },
  },
  extraTokenClaims: () => ({ 'https://api.example/roles': ['editor'], tenant: 'acme' }),
});
server.on('request', provider.callback());
console.log(JSON.stringify({ issuer }));

const post = (path, form) =>
  new Promise((resolve, reject) => {
    const options = {
      method: 'POST',
      ca: certificate,
      auth: 'shop:a+secret+of+the+tests',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    };
    const sent = request(issuer + path, options, async (response) => {
      const chunks = await response.toArray();
      resolve(Buffer.concat(chunks).toString() || 'null');
    });
    sent.on('error', reject).end(new URLSearchParams(form).toString());
  });
for await (const line of createInterface({ input: process.stdin })) {
  const { path, form } = JSON.parse(line);
  console.log(await post(path, form));
}
process.exit(0);
