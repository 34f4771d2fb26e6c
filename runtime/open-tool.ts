import { readStateFolder, readTemporalEnvironment } from '#config/reading/standard-variables.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { openRuntime, type CoreRuntime } from './core-runtime.ts';
import { createLogger } from './logger.ts';

/** What a command of an operator works with. It ends the process when the configuration has mistakes. @param name of its log lines */
export async function openTool(name: string, args: readonly string[]): Promise<CoreRuntime> {
  const logger = createLogger(name, { level: 'warn' });
  const config = await ConfigStore.open({ file: configFileArgument(args), logger }).catch(exitOnConfigurationError);
  return openRuntime({
    config,
    temporalEnvironment: readTemporalEnvironment(),
    logger,
    stateFolder: readStateFolder(),
    process: 'core tool',
  }).catch(exitOnConfigurationError);
}
