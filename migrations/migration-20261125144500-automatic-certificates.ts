import { Migration } from '@mikro-orm/migrations';

/** Certificates that the API obtains from a certificate authority (`server.tls.autocert`), shared by all its processes. */
export class Migration20261125144500AutomaticCertificates extends Migration {
  override up(): void {
    this.addSql(`create table automatic_certificates (
      -- URL of the authority's directory.
      authority text not null,
      -- The DNS name that the certificate is for.
      name text not null,
      -- Key and address of the account with the authority, and the key of the certificate: encrypted.
      account text,
      private_key text,
      certificate text,
      -- What the authority expects to see while it checks that this server has the name.
      key_authorization text,
      -- The process that orders a certificate at the moment.
      held_by text,
      held_until timestamptz,
      -- Attempts that failed since the last certificate.
      failed_attempts integer not null default 0,
      -- Why the last of them did.
      last_failure text,
      -- No certificate is ordered before.
      next_attempt_at timestamptz,
      primary key (authority, name),
      check ((certificate is null) = (private_key is null))
    )`);
    this.addSql('revoke all on automatic_certificates from core_app, core_system');
    this.addSql('grant select, insert, update on automatic_certificates to core_system');
  }

  override down(): void {
    this.addSql('drop table automatic_certificates');
  }
}
