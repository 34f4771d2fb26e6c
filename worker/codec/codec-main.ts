import { parseArgs } from 'node:util';
import { parseListenAddress } from '#config/schema/format.ts';
import { configFileArgument, loadConfiguration } from '#config/reading/load-configuration.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { startCodecServer } from './codec-server.ts';

const usage =
  'usage: node worker/codec/codec-main.ts --listen 127.0.0.1:17610 --origin https://temporal-ui.example [--config FILE]';
const { values } = parseArgs({
  options: { listen: { type: 'string' }, origin: { type: 'string', multiple: true }, config: { type: 'string' } },
});
const address = parseListenAddress(values.listen ?? '');
if (!address || !values.origin) {
  console.error(usage);
  process.exit(2);
}
const { config } = await loadConfiguration({ file: configFileArgument(process.argv.slice(2)) }).catch(
  exitOnConfigurationError,
);
await startCodecServer({
  host: address.host ?? '127.0.0.1',
  port: address.port,
  origins: values.origin,
  encryptionKey: () => config.sessions.encryptionkey,
});
console.log(`codec server listens on ${values.listen ?? ''} for ${values.origin.join(', ')}`);
