import { createLogger } from './logger.ts';
import { readTemporalEnvironment } from '#config/reading/standard-variables.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { openRuntime } from './core-runtime.ts';
import { verifyInstallation } from './verify.ts';

/** Shortest time between two lines of progress. */
const progressEveryMs = 2_000;

const args = process.argv.slice(2);
const logger = createLogger('verify', { level: 'warn' });
const config = await ConfigStore.open({ file: configFileArgument(args), logger }).catch(exitOnConfigurationError);
const runtime = await openRuntime({
  config,
  temporalEnvironment: readTemporalEnvironment(),
  logger,
  process: 'core tool',
}).catch(exitOnConfigurationError);
try {
  let reported = Date.now();
  const lines = await verifyInstallation(runtime, {
    isQuiet: args.includes('--quiet'),
    onProgress: (name, count) => {
      if (Date.now() - reported < progressEveryMs) return;
      reported = Date.now();
      console.error(`${name}: ${count} read`);
    },
  });
  for (const line of lines) console.log(line);
  console.log(
    lines.length === 0
      ? 'Rows, history, events, deliveries, tuples and workflows agree.'
      : `${lines.length} disagreements.`,
  );
  process.exitCode = lines.length === 0 ? 0 : 1;
} catch (error) {
  if (!isAppError(error)) throw error;
  console.error(
    `${error.message} Database, Temporal and authorization store must be running to be compared; "npm start" starts them.`,
  );
  process.exitCode = 1;
} finally {
  await runtime.close();
}
