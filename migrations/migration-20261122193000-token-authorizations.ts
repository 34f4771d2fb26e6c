import { Migration } from '@mikro-orm/migrations';

/** Parts of `token_context` that become others. */
const changes: readonly (readonly [from: string, to: string])[] = [
  [
    'found_scopes text[]; found_expiry timestamptz;',
    'found_scopes text[]; found_expiry timestamptz; found_authorized text[];',
  ],
  [
    'select t.user_id, t.organization_ids, t.scopes, t.expires_at',
    'select t.user_id, t.organization_ids, t.scopes, t.expires_at, t.single_sign_on_ids',
  ],
  [
    'into found_user, found_organizations, found_scopes, found_expiry from',
    'into found_user, found_organizations, found_scopes, found_expiry, found_authorized from',
  ],
  // `*` stands for a session that has been judged, whatever single sign-on is enforced.
  [
    "from request_context(found_user, '', found_organization) c;",
    `from request_context(found_user, case when found_authorized && array(select h.id from organization_chain(found_organization) h)
          then '*' else '' end, found_organization) c;`,
  ],
];

/** Replaces parts of `token_context`, each of which it must contain once. */
function replaced(parts: typeof changes): string {
  const steps = parts.map(
    ([
      from,
      to,
    ]) => `if (length(definition) - length(replace(definition, $old$${from}$old$, ''))) <> length($old$${from}$old$) then
      raise exception 'token_context does not contain once: %', $old$${from}$old$; end if;
    definition := replace(definition, $old$${from}$old$, $new$${to}$new$);`,
  );
  return `do $migration$ declare definition text := pg_get_functiondef('token_context(text, text, text, text)'::regprocedure);
  begin
    ${steps.join('\n    ')}
    execute definition;
  end $migration$`;
}

/** Personal tokens count where single sign-on is enforced after their owner has authorized them there. */
export class Migration20261122193000TokenAuthorizations extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "personal_access_tokens" add "single_sign_on_ids" text[] not null default '{}';`);
    this.addSql(`alter table "personal_access_tokens" alter column "single_sign_on_ids" drop default;`);
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token counts although single sign-on is enforced: its owner has authorized it in a session of their single sign-on.';`,
    );
    this.addSql(replaced(changes));
  }

  override down(): void | Promise<void> {
    this.addSql(replaced(changes.map(([from, to]) => [to, from] as const)));
    this.addSql(`alter table "personal_access_tokens" drop column "single_sign_on_ids";`);
  }
}
