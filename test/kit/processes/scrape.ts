/** Response of a metrics server: values by name and labels, types by name of the metric. */
export interface Scrape {
  readonly text: string;
  readonly values: ReadonlyMap<string, number>;
  /** Types by family, as the format names it: of counters with `_total`. */
  readonly types: ReadonlyMap<string, string>;
}

/** Scrapes once, in Prometheus' text format. @param url of `/metrics` */
export async function scrape(url: string): Promise<Scrape> {
  const text = await (await fetch(url)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const values = new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
  const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type] as [string, string]);
  return { text, values, types: new Map(types) };
}

/** The sum of the values of this name whose labels hold all of these; undefined without any. */
export function valueOf({ values }: Scrape, name: string, ...labels: readonly string[]): number | undefined {
  const found = [...values].filter(
    ([key]) => (key === name || key.startsWith(`${name}{`)) && labels.every((label) => key.includes(label)),
  );
  return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + value, 0);
}
