import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** Parts of `token_context` that become others. */
const changes: Changes = [
  [
    'found_scopes text[]; found_expiry timestamptz;',
    'found_scopes text[]; found_expiry timestamptz; found_authorized text[]; found_revisions text[];',
  ],
  [
    'select t.user_id, t.organization_ids, t.scopes, t.expires_at',
    'select t.user_id, t.organization_ids, t.scopes, t.expires_at, t.single_sign_on_ids, t.single_sign_on_revisions',
  ],
  [
    'into found_user, found_organizations, found_scopes, found_expiry from',
    'into found_user, found_organizations, found_scopes, found_expiry, found_authorized, found_revisions from',
  ],
  // A token that was authorized in a session of single sign-on counts where that session does; `*` stands for one that has been judged.
  [
    "from request_context(found_user, '', found_organization) c;",
    `from request_context(found_user, case when exists (select 1 from unnest(found_authorized, found_revisions) as a (id, revision)
          where is_sign_on_current(a.id, a.revision) and single_sign_on_gap(found_user, found_organization, a.id) is null)
        then '*' else '' end, found_organization) c;`,
  ],
];

const tokenContext = 'token_context(text, text, text, text)';

/** Personal tokens count where single sign-on is enforced after their owner has authorized them there. */
export class Migration20261122201500TokenAuthorizations extends Migration {
  override up(): void | Promise<void> {
    for (const column of ['single_sign_on_ids', 'single_sign_on_revisions']) {
      this.addSql(`alter table "personal_access_tokens" add "${column}" text[] not null default '{}';`);
      this.addSql(`alter table "personal_access_tokens" alter column "${column}" drop default;`);
    }
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token counts although single sign-on is enforced: its owner has authorized it in a session of their single sign-on. Each counts until the provider of the organization changes.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_revisions" is '\`revision\` of the provider of each of these organizations at that time.';`,
    );
    this.addSql(changedFunction(tokenContext, changes));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction(tokenContext, undone(changes)));
    this.addSql(
      `alter table "personal_access_tokens" drop column "single_sign_on_ids", drop column "single_sign_on_revisions";`,
    );
  }
}
