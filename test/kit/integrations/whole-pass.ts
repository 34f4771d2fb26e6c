import type { Envelope, IntegrationDefinition, ProviderContext } from '#activities/clients/integrations/definition.ts';

/** All records of a pass of `directorySync`. @param pages maximum number */
export async function wholePass(
  { id, operations }: IntegrationDefinition,
  context: () => ProviderContext,
  pages = 100,
): Promise<Envelope[]> {
  const operation = operations.find(({ name }) => name === 'directorySync');
  if (operation?.policy !== 'run') throw new Error(`${id} has no operation directorySync`);
  const records: Envelope[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pages; page++) {
    const read = await operation.readPage(context(), {}, cursor);
    records.push(...read.records);
    if (read.next === undefined) return records;
    cursor = read.next;
  }
  throw new Error(`the pass has more than ${pages} pages`);
}

/** Fails if an error, or one that it keeps, has one of the texts. */
export function expectNone(texts: readonly string[], errors: readonly unknown[]): void {
  for (let error of errors)
    for (; error instanceof Error; error = error.cause) {
      const whole = `${error.message} ${JSON.stringify(error)} ${error.stack}`;
      const found = texts.find((text) => whole.includes(text));
      if (found !== undefined) throw new Error(`an error has "${found}": ${whole}`);
    }
}

/** Answer of an operation in the request. */
export function inlineRun(
  { id, operations }: IntegrationDefinition,
  name: string,
  context: ProviderContext,
  input: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const operation = operations.find((one) => one.name === name);
  if (operation?.policy !== 'inline') throw new Error(`${id} has no inline operation ${name}`);
  return operation.run(context, input);
}
