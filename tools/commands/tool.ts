import { hostname, userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { ConfigStore } from '#config/live/config-store.ts';
import { configFileArgument } from '#config/reading/load-configuration.ts';
import { readPaymentProvider, readStateFolder, readTemporalEnvironment } from '#config/reading/standard-variables.ts';
import { exitOnConfigurationError } from '#config/schema/config-problem.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { openRuntime, type CoreRuntime } from '#runtime/core-runtime.ts';
import { createLogger } from '#runtime/logger.ts';

/** A tool of operators, `npm run <name>`: a table of its commands. */
export interface Tool<Options extends OptionTypes, Command> {
  readonly name: string;
  /** Servers that must be running, as the beginning of a sentence. */
  readonly needs: string;
  /** The options of all its commands; `--config FILE` comes with the frame. */
  readonly options: Options;
  readonly commands: Readonly<Record<string, CommandForm<Options, Command>>>;
  /** Ends the usage: what its words stand for. */
  readonly notes?: string;
}

type OptionTypes = Readonly<Record<string, 'string' | 'boolean'>>;

/** How a command is typed. */
export interface CommandForm<Options extends OptionTypes, Command> {
  /** Lines of the usage: what is typed, and what it does. */
  readonly usage: readonly (readonly [typed: string, does: string])[];
  /** Name of its one operand, or that it may have any number of them; it has none when left out. */
  readonly operand?: string | { readonly times: 'any' };
  readonly options?: readonly (keyof Options)[];
  /** @throws ArgumentError */
  readonly read: (given: Arguments<Options>) => Command;
}

export interface Arguments<Options extends OptionTypes> {
  readonly operands: readonly string[];
  readonly values: { readonly [Name in keyof Options]?: Options[Name] extends 'boolean' ? boolean : string };
}

/** Arguments that are no command; the message says why. */
export class ArgumentError extends Error {}

export interface ToolContext<Parts extends keyof CoreRuntime = keyof CoreRuntime> {
  readonly runtime: Pick<CoreRuntime, Parts>;
  readonly print: (line: string) => void;
  readonly progressEveryMs?: number;
}

/**
 * Runs what was typed. The process ends with 0 when it is done, with 1 when it is not, and with 2 and the usage when the arguments are no
 * command. `--help` prints the usage, whatever stands beside it, and needs no server.
 * @param run returns whether the command is done
 */
export async function runTool<Options extends OptionTypes, Command>(
  tool: Tool<Options, Command>,
  run: (command: Command, context: ToolContext) => Promise<boolean>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (printedHelp(args, usageOf(tool))) return;
  let command: Command;
  try {
    command = readCommand(tool, args);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    console.error(`${error.message}\n\n${usageOf(tool)}`);
    process.exitCode = 2;
    return;
  }
  await inRuntime(tool, args, (runtime) => run(command, { runtime, print: (line) => console.log(line) }));
}

/** Prints the usage if the arguments ask for it. */
export function printedHelp(args: readonly string[], usage: string): boolean {
  const isAsked = args.includes('--help');
  if (isAsked) console.log(usage);
  return isAsked;
}

/** @throws ArgumentError */
export function readCommand<Options extends OptionTypes, Command>(
  { options, commands }: Tool<Options, Command>,
  args: readonly string[],
): Command {
  const { values, positionals } = parsed(options, args);
  const [name, ...operands] = positionals;
  if (name === undefined) throw new ArgumentError('a command is missing');
  const form = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!form) throw new ArgumentError(`no command "${name}"`);
  for (const option of Object.keys(values))
    if (option !== 'config' && !form.options?.includes(option))
      throw new ArgumentError(`${name} has no option --${option}`);
  if (typeof form.operand === 'string' && operands.length !== 1)
    throw new ArgumentError(`${name} takes one ${form.operand}`);
  if (form.operand === undefined && operands.length > 0)
    throw new ArgumentError(`${name} takes options only, not "${operands[0]}"`);
  return form.read({ operands, values: values as Arguments<Options>['values'] });
}

function parsed(options: OptionTypes, args: readonly string[]) {
  const types = Object.entries({ ...options, config: 'string' as const }).map(([name, type]) => [name, { type }]);
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options: Object.fromEntries(types) });
  } catch (error) {
    throw new ArgumentError((error as Error).message);
  }
}

/** Where the texts of the usage begin that say what a command does. */
const column = 36;

function usageOf<Options extends OptionTypes, Command>({ name, commands, notes }: Tool<Options, Command>): string {
  const lines = Object.values(commands)
    .flatMap(({ usage }) => usage)
    .flatMap(([typed, does]) => {
      const start = `  ${typed}`;
      const [first = '', ...more] = does.split('\n').map((line) => `${' '.repeat(column)}${line}`);
      return start.length > column - 2 ? [start, first, ...more] : [start + first.slice(start.length), ...more];
    });
  return [`usage: npm run ${name} -- COMMAND`, ...lines, ...(notes === undefined ? [] : [notes])].join('\n');
}

/** The operator (login and host name of their machine) and the reason for a command. @throws ArgumentError without a reason */
export function asked({ reason = '' }: { readonly reason?: string }): {
  readonly operator: string;
  readonly reason: string;
} {
  if (reason.trim() === '') throw new ArgumentError('--reason says why; it is kept');
  return { operator: `${userInfo().username}@${hostname()}`, reason: reason.trim() };
}

/** @throws ArgumentError */
export function wholeNumber(
  option: string,
  value: string | undefined,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const number = value === undefined ? otherwise : Number(value);
  if (!Number.isInteger(number) || number < 1 || number > max)
    throw new ArgumentError(`--${option} is a whole number from 1 to ${max}`);
  return number;
}

/** @throws ArgumentError */
export function idOption(option: string, value: string | undefined): string | undefined {
  if (value !== undefined && !isId(value)) throw new ArgumentError(`--${option} is not an id`);
  return value;
}

/**
 * Opens what a tool works with, and closes it again. The process ends with 0 when the work is done, else with 1; an error that the product
 * names is one line. Mistakes in the configuration end it at once.
 */
export async function inRuntime(
  { name, needs }: Pick<Tool<OptionTypes, unknown>, 'name' | 'needs'>,
  args: readonly string[],
  work: (runtime: CoreRuntime) => Promise<boolean>,
): Promise<void> {
  const logger = createLogger(name, { level: 'warn' });
  const config = await ConfigStore.open({ file: configFileArgument(args), logger }).catch(exitOnConfigurationError);
  const runtime = await openRuntime({
    config,
    temporalEnvironment: readTemporalEnvironment(),
    payment: readPaymentProvider(),
    logger,
    stateFolder: readStateFolder(),
    process: 'core tool',
  }).catch(exitOnConfigurationError);
  try {
    process.exitCode = (await work(runtime)) ? 0 : 1;
  } catch (error) {
    if (!isAppError(error)) throw error;
    console.error(`${error.message} ${needs} must be running; "npm start" starts them.`);
    process.exitCode = 1;
  } finally {
    await runtime.close();
  }
}
