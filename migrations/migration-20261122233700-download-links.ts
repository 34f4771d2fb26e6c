import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const hashMatches = "t.secret_hash = any(string_to_array(wanted_hashes, ' '))";

/** A fingerprint stands in a link instead of the hash (`api/auth/download-link.ts`); no hash begins with `~`. */
const fingerprintMatches = `(${hashMatches}
          or '~' || left(encode(sha256(convert_to(t.secret_hash, 'UTF8')), 'hex'), 32) = any(string_to_array(wanted_hashes, ' ')))`;

const changes: Changes = ['api_tokens', 'personal_access_tokens'].map((table) => [
  `from ${table} t
        where t.id = wanted_id and ${hashMatches} and`,
  `from ${table} t
        where t.id = wanted_id and ${fingerprintMatches} and`,
]);

/** Links of tokens count as long as the secret with which they were made. */
export class Migration20261122233700DownloadLinks extends Migration {
  override up(): void | Promise<void> {
    this.addSql(changedFunction('token_context(text, text, text, text)', changes));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('token_context(text, text, text, text)', undone(changes)));
  }
}
