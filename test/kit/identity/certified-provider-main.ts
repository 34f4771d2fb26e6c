import { parseArgs } from 'node:util';
import { startCertifiedProvider } from './certified-provider.ts';

/** The OpenID Connect provider of `npm start`, for developers without an account at one. Its state ends with it. */
const { values } = parseArgs({
  options: { port: { type: 'string' }, client: { type: 'string' }, callback: { type: 'string' } },
});
const { LOCAL_IDENTITY_SECRET: secret = '' } = process.env;
await startCertifiedProvider([values.callback ?? ''], {
  port: Number(values.port),
  client: { id: values.client ?? '', secret },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit());
process.send?.('ready');
