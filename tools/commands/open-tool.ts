import { readStateFolder, readTemporalEnvironment } from '#config/reading/standard-variables.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { ConfigStore } from '#config/live/config-store.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { createLogger } from '#runtime/logger.ts';

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

/**
 * Runs a command of an operator. The process ends with 0 when it is done, else with 1; an error that the product names is one line.
 * @param needed what must be running, for that line
 * @param work returns whether the command is done
 */
export async function runTool(
  name: string,
  args: readonly string[],
  needed: string,
  work: (runtime: CoreRuntime) => Promise<boolean>,
): Promise<void> {
  const runtime = await openTool(name, args);
  try {
    process.exitCode = (await work(runtime)) ? 0 : 1;
  } catch (error) {
    if (!isAppError(error)) throw error;
    console.error(`${error.message} ${needed} must be running; "npm start" starts them.`);
    process.exitCode = 1;
  } finally {
    await runtime.close();
  }
}
