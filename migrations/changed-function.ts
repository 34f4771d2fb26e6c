/** Parts of the definition of a function, and what they become. */
export type Changes = readonly (readonly [from: string, to: string])[];

/**
 * The statement that replaces parts of a function, each of which its definition must contain once.
 * @param signature of the function, as `regprocedure` reads it
 * @param isAnew whether the columns that it returns change: PostgreSQL then needs it to be created anew, without its privileges
 */
export function changedFunction(signature: string, changes: Changes, { isAnew = false } = {}): string {
  const steps = changes.map(
    ([
      from,
      to,
    ]) => `if (length(definition) - length(replace(definition, $old$${from}$old$, ''))) <> length($old$${from}$old$) then
      raise exception 'function ${signature} does not contain once: %', $old$${from}$old$; end if;
    definition := replace(definition, $old$${from}$old$, $new$${to}$new$);`,
  );
  return `do $migration$ declare definition text := pg_get_functiondef('${signature}'::regprocedure);
  begin
    ${steps.join('\n    ')}
    ${isAnew ? `drop function ${signature};` : ''}
    execute definition;
  end $migration$`;
}

/** The changes that undo others. */
export function undone(changes: Changes): Changes {
  return changes.map(([from, to]) => [to, from]);
}
