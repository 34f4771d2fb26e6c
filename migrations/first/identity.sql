create table api_tokens (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  description text,
  expires_at timestamptz,
  last_used_at timestamptz,
  hint text not null,
  key_id text not null,
  secret_hash text not null,
  rotated_at timestamptz,
  scopes text[] not null
);
alter table api_tokens add constraint api_tokens_pkey primary key (id);
comment on table api_tokens is 'API token of an organization, with which a program calls the API. It has the rights of its scopes and belongs to no person. Deleting it revokes it immediately.';
comment on column api_tokens.name is 'Name that says what the token is used for.';
comment on column api_tokens.description is 'Further information about the token.';
comment on column api_tokens.expires_at is 'When the token stops working; null for a token that works until it is deleted.';
comment on column api_tokens.last_used_at is 'When the token was last used, to the minute; null if it never was.';
comment on column api_tokens.hint is 'Last characters of the token, by which its owner recognizes it.';
comment on column api_tokens.key_id is 'Id of the key in auth.token.apitokens.keys with which the secret was hashed.';
comment on column api_tokens.secret_hash is 'HMAC-SHA256 of the secret with that key, in base64url.';
comment on column api_tokens.rotated_at is 'When the secret was last replaced; null if it never was.';
comment on column api_tokens.scopes is 'Rights of the token: `<kind>:read`, `:write` or `:delete`; each includes those before it.';
create index api_tokens_name_beginning on api_tokens (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index api_tokens_organization_id_created_at_id_index on api_tokens (organization_id, created_at, id) where (deleted_at is null);
create index api_tokens_organization_id_id_index on api_tokens (organization_id, id) where (deleted_at is null);
create index api_tokens_organization_id_name_order on api_tokens (organization_id, name collate record_order, id) where (deleted_at is null);
create index api_tokens_organization_id_updated_at_id_index on api_tokens (organization_id, updated_at, id) where (deleted_at is null);
alter table api_tokens enable row level security;
create policy api_tokens_app on api_tokens to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy api_tokens_system on api_tokens to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table api_tokens to core_app;
grant select,insert,update on table api_tokens to core_system;

create table delegations (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  type text not null,
  reason text not null,
  actor_id text not null,
  actor_name text not null,
  actor_email text not null,
  subject_id text not null,
  session_id text,
  consent_id text,
  address text not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  actor_membership_id text,
  subject_membership_id text,
  constraint delegations_type_check check ((type = any (array['support', 'impersonation'])))
);
alter table delegations add constraint delegations_pkey primary key (id);
comment on table delegations is 'Access of a person who acts in the organization as another user, for at most an hour: support, or a manager who acts as a member. It cannot be deleted; an access that has ended stays on record.';
comment on column delegations.type is 'Support access, or impersonation of a member by a manager.';
comment on column delegations.reason is 'Reason of the access, as stated by the person who acts.';
comment on column delegations.actor_id is 'Id of the person who acts, or of the support identity.';
comment on column delegations.actor_name is 'Name of the person who acts, or of the support identity.';
comment on column delegations.actor_email is 'Address of the person who acts; for support, the one that completed the second factor.';
comment on column delegations.subject_id is 'Id of the member as whom the person acts; for support, the support identity.';
comment on column delegations.session_id is 'Id of the session from which it began, with which it ends; null for support.';
comment on column delegations.consent_id is 'Id of the consent of the organization, with which it ends; null for impersonation.';
comment on column delegations.address is 'Network address that the token was given to.';
comment on column delegations.expires_at is 'When it ends unless it is ended before.';
comment on column delegations.ended_at is 'When it was ended before its time; null if nobody has ended it.';
comment on column delegations.actor_membership_id is 'Id of the membership that gives the person who acts the role for it: the access ends with it; null for support.';
comment on column delegations.subject_membership_id is 'Id of the membership of the member as whom the person acts: the access ends with it; null for support.';
create index delegations_organization_id_created_at_id_index on delegations (organization_id, created_at, id) where (deleted_at is null);
create index delegations_organization_id_expires_at_id_index on delegations (organization_id, expires_at, id) where (deleted_at is null);
create index delegations_organization_id_id_index on delegations (organization_id, id) where (deleted_at is null);
create index delegations_organization_id_subject_id_id_index on delegations (organization_id, subject_id, id) where (deleted_at is null);
create index delegations_organization_id_type_id_index on delegations (organization_id, type, id) where (deleted_at is null);
create index delegations_organization_id_updated_at_id_index on delegations (organization_id, updated_at, id) where (deleted_at is null);
create index delegations_subject_id_beginning on delegations (organization_id, "left"(matched_form(subject_id), 100) collate "C") where (deleted_at is null);
alter table delegations enable row level security;
create policy delegations_app on delegations to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy delegations_system on delegations to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table delegations to core_app;
grant select,insert,update on table delegations to core_system;

create table email_changes (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  email text not null,
  new_email text,
  sent_at timestamptz,
  expires_at timestamptz not null,
  used_at timestamptz
);
alter table email_changes add constraint email_changes_pkey primary key (id);
comment on table email_changes is 'Request of a user to give up their e-mail address: for another one, or together with the account.';
comment on column email_changes.user_id is 'Id of the user.';
comment on column email_changes.email is 'Address of the user at the request.';
comment on column email_changes.new_email is 'Address that the user wants, to which the link is e-mailed; null for a deleted account.';
comment on column email_changes.sent_at is 'When the e-mail with this link was requested; null where none was sent.';
comment on column email_changes.expires_at is 'When the link expires.';
comment on column email_changes.used_at is 'When the address was given up, or the link became void.';
create index email_changes_email_index on email_changes (email) where (deleted_at is null);
create index email_changes_new_email_index on email_changes (new_email) where (deleted_at is null);
create index email_changes_user_id_index on email_changes (user_id) where (deleted_at is null);
alter table email_changes enable row level security;
create policy email_changes_app on email_changes to core_app using (false) with check (false);
create policy email_changes_system on email_changes to core_system using (true) with check (true);
grant select,insert,update on table email_changes to core_app;
grant select,insert,update on table email_changes to core_system;

create table email_verifications (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  email text not null,
  round integer not null,
  sent_at timestamptz,
  expires_at timestamptz not null,
  used_at timestamptz,
  password_hash text,
  first_name text,
  last_name text
);
alter table email_verifications add constraint email_verifications_pkey primary key (id);
comment on table email_verifications is 'Request to verify that a person owns an e-mail address.';
comment on column email_verifications.email is 'E-mail address to verify.';
comment on column email_verifications.round is '1 for a sign-up; greater by 1 for each later request to send its mail again.';
comment on column email_verifications.sent_at is 'When the e-mail with this link was requested; null if another one had just been sent.';
comment on column email_verifications.expires_at is 'When the link expires.';
comment on column email_verifications.used_at is 'When the address was verified, with this link or with another.';
comment on column email_verifications.password_hash is 'argon2id hash of the password that is valid once this link is confirmed; null: the link is void.';
comment on column email_verifications.first_name is 'Given name written at sign-up.';
comment on column email_verifications.last_name is 'Family name written at sign-up.';
create index email_verifications_email_index on email_verifications (email) where (deleted_at is null);
alter table email_verifications enable row level security;
create policy email_verifications_app on email_verifications to core_app using (false) with check (false);
create policy email_verifications_system on email_verifications to core_system using (true) with check (true);
grant select,insert,update on table email_verifications to core_app;
grant select,insert,update on table email_verifications to core_system;

create table external_identities (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  provider text not null,
  issuer text not null,
  subject text not null,
  email text not null,
  realm text not null,
  constraint external_identities_provider_check check ((provider = any (array['codehost', 'identity', 'single_sign_on'])))
);
alter table external_identities add constraint external_identities_pkey primary key (id);
comment on table external_identities is 'Identity of a person at a sign-in provider, with which they sign in.';
comment on column external_identities.provider is 'Provider of the identity: one of this server, or the single sign-on of an organization.';
comment on column external_identities.issuer is 'URL of the provider.';
comment on column external_identities.subject is 'Id of the person at the provider.';
comment on column external_identities.email is 'Address that the provider had verified when the identity was linked.';
comment on column external_identities.realm is 'Issuer at which the identity signs in: the name of the provider of this server, or the id of the organization whose single sign-on it is.';
create unique index external_identities_realm_issuer_subject_key on external_identities (realm, issuer, subject) where (deleted_at is null);
create index external_identities_user_id_index on external_identities (user_id);
alter table external_identities enable row level security;
create policy external_identities_app on external_identities to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy external_identities_system on external_identities to core_system using (true) with check (true);
grant select,insert,update on table external_identities to core_app;
grant select,insert,update on table external_identities to core_system;

create table passkeys (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  name text not null,
  credential_id text not null,
  public_key text not null,
  sign_count bigint not null,
  transports text[] not null,
  aaguid text not null,
  is_backup_eligible boolean not null,
  is_backed_up boolean not null,
  last_used_at timestamptz
);
alter table passkeys add constraint passkeys_pkey primary key (id);
comment on table passkeys is 'Passkey (WebAuthn credential) with which a person signs in without a password. Deleting it ends sign-ins with it; sessions continue.';
comment on column passkeys.name is 'Name by which its owner knows the passkey.';
comment on column passkeys.credential_id is 'Id of the credential at the authenticator, in base64url.';
comment on column passkeys.public_key is 'Public key of the credential (COSE_Key), in base64url.';
comment on column passkeys.sign_count is 'Signatures that the authenticator had counted at the last sign-in; 0 if it has no counter.';
comment on column passkeys.transports is 'Ways in which browsers reach the authenticator, for example `internal` or `usb`.';
comment on column passkeys.aaguid is 'Model of the authenticator (AAGUID); zeros if it is unknown.';
comment on column passkeys.is_backup_eligible is 'Whether the authenticator may copy the passkey to other devices.';
comment on column passkeys.is_backed_up is 'Whether the passkey had been copied at the last sign-in.';
comment on column passkeys.last_used_at is 'When somebody last signed in with it; null if nobody has.';
create unique index passkeys_credential_id_key on passkeys (credential_id) where (deleted_at is null);
create index passkeys_user_id_index on passkeys (user_id);
alter table passkeys enable row level security;
create policy passkeys_app on passkeys to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy passkeys_system on passkeys to core_system using (true) with check (true);
grant select,insert,update on table passkeys to core_app;
grant select,insert,update on table passkeys to core_system;

create table password_resets (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  email text not null,
  sent_at timestamptz,
  expires_at timestamptz not null,
  used_at timestamptz
);
alter table password_resets add constraint password_resets_pkey primary key (id);
comment on table password_resets is 'Request to set a new password by a link that is e-mailed.';
comment on column password_resets.email is 'Address that the link is e-mailed to, if it has an account.';
comment on column password_resets.sent_at is 'When the e-mail with this link was requested; null if another one had just been sent.';
comment on column password_resets.expires_at is 'When the link expires.';
comment on column password_resets.used_at is 'When a password was set, with this link or with another.';
create index password_resets_email_index on password_resets (email) where (deleted_at is null);
alter table password_resets enable row level security;
create policy password_resets_app on password_resets to core_app using (false) with check (false);
create policy password_resets_system on password_resets to core_system using (true) with check (true);
grant select,insert,update on table password_resets to core_app;
grant select,insert,update on table password_resets to core_system;

create table personal_access_tokens (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  name text not null,
  description text,
  expires_at timestamptz,
  last_used_at timestamptz,
  hint text not null,
  key_id text not null,
  secret_hash text not null,
  rotated_at timestamptz,
  scopes text[] not null,
  organization_ids text[] not null,
  single_sign_on_ids text[] not null,
  single_sign_on_revisions text[] not null,
  single_sign_on_membership_ids text[] not null
);
alter table personal_access_tokens add constraint personal_access_tokens_pkey primary key (id);
comment on table personal_access_tokens is 'Token with which a program acts for a person, with those of the rights of the person that are within its scopes. Deleting it revokes it immediately.';
comment on column personal_access_tokens.name is 'Name that says what the token is used for.';
comment on column personal_access_tokens.description is 'Further information about the token.';
comment on column personal_access_tokens.expires_at is 'When the token stops working; null for a token that works until it is deleted.';
comment on column personal_access_tokens.last_used_at is 'When the token was last used, to the minute; null if it never was.';
comment on column personal_access_tokens.hint is 'Last characters of the token, by which its owner recognizes it.';
comment on column personal_access_tokens.key_id is 'Id of the key in auth.token.apitokens.keys with which the secret was hashed.';
comment on column personal_access_tokens.secret_hash is 'HMAC-SHA256 of the secret with that key, in base64url.';
comment on column personal_access_tokens.rotated_at is 'When the secret was last replaced; null if it never was.';
comment on column personal_access_tokens.scopes is 'Rights of the token, as part of those of the person: `<kind>:read`, `:write` or `:delete`; each includes those before it.';
comment on column personal_access_tokens.organization_ids is 'Ids of the organizations in which the token works; empty for all of the person.';
comment on column personal_access_tokens.single_sign_on_ids is 'Ids of the organizations for which the owner has authorized the token in a session of their single sign-on. The token is valid there, and in the organizations below them, although single sign-on is enforced. An authorization ends when the provider of the organization changes or the membership of the owner ends.';
comment on column personal_access_tokens.single_sign_on_revisions is '`revision` of the provider of each of these organizations at that time.';
comment on column personal_access_tokens.single_sign_on_membership_ids is 'Id of the membership with which the owner was there at that time, of each.';
create index personal_access_tokens_user_id_index on personal_access_tokens (user_id);
alter table personal_access_tokens enable row level security;
create policy personal_access_tokens_app on personal_access_tokens to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy personal_access_tokens_system on personal_access_tokens to core_system using (true) with check (true);
grant select,insert,update on table personal_access_tokens to core_app;
grant select,insert,update on table personal_access_tokens to core_system;

create table second_factors (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  sealed_secret text,
  digits integer not null,
  confirmed_at timestamptz,
  last_used_step integer not null,
  recovery_code_hashes jsonb,
  recovery_codes_left integer not null
);
alter table second_factors add constraint second_factors_pkey primary key (id);
comment on table second_factors is 'Authenticator app of a person: after the first proof of identity, a sign-in also asks for a one-time code (TOTP, RFC 6238).';
comment on column second_factors.sealed_secret is 'Secret shared with the authenticator app, encrypted (JWE); null once it is removed.';
comment on column second_factors.digits is 'Number of digits of a code; set when the app is set up.';
comment on column second_factors.confirmed_at is 'When the person confirmed the app with a code; null until then.';
comment on column second_factors.last_used_step is 'Number of the time step (30 seconds) of the last accepted code; codes of this step and of earlier ones are refused.';
comment on column second_factors.recovery_code_hashes is 'HMAC-SHA256 of each recovery code that has not been used, as a list in base64url.';
comment on column second_factors.recovery_codes_left is 'Number of recovery codes that have not been used.';
create index second_factors_user_id_index on second_factors (user_id);
create unique index second_factors_user_id_key on second_factors (user_id) where (deleted_at is null);
alter table second_factors enable row level security;
create policy second_factors_app on second_factors to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy second_factors_system on second_factors to core_system using (true) with check (true);
grant select,insert,update on table second_factors to core_app;
grant select,insert,update on table second_factors to core_system;

create table sessions (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  user_agent text,
  address text not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  active_organization_id text,
  refresh_token_hash text not null,
  proven_at timestamptz,
  single_sign_on_id text,
  single_sign_on_revision text,
  replaced_token_hash text,
  replaced_at timestamptz,
  sealed_successor text,
  single_sign_on_membership_id text
);
alter table sessions add constraint sessions_pkey primary key (id);
comment on table sessions is 'Sign-in of a person on one device. Deleting it signs the device out: all tokens that came from the sign-in stop working.';
comment on column sessions.user_agent is 'Browser or program that signed in, as it names itself; null if it does not.';
comment on column sessions.address is 'Network address that the last token of this sign-in was given to.';
comment on column sessions.last_seen_at is 'When the last token of this sign-in was given.';
comment on column sessions.expires_at is 'When the sign-in ends unless its tokens are refreshed before; with single sign-on, at the latest twelve hours after it began.';
comment on column sessions.active_organization_id is 'Id of the organization that refreshed tokens are valid for; null for none.';
comment on column sessions.refresh_token_hash is 'SHA-256 hash of the only refresh token that is still to be used, in base64url.';
comment on column sessions.proven_at is 'When the person last confirmed their identity in this session, for sensitive actions; null if there is no record.';
comment on column sessions.single_sign_on_id is 'Id of the organization whose single sign-on began it, in which alone it is valid; null for other ways to sign in.';
comment on column sessions.single_sign_on_revision is '`revision` of the provider that began it: the session ends with the provider; null for other ways to sign in.';
comment on column sessions.replaced_token_hash is 'SHA-256 hash of the refresh token that was used last; null before the first use.';
comment on column sessions.replaced_at is 'When that refresh token was used; null before the first use.';
comment on column sessions.sealed_successor is 'The refresh token that took its place, encrypted: for some seconds, requests with the replaced one get it again.';
comment on column sessions.single_sign_on_membership_id is 'Id of the membership with which the single sign-on let the person in: the session ends with it; null for other ways to sign in.';
create index sessions_user_id_index on sessions (user_id);
alter table sessions enable row level security;
create policy sessions_app on sessions to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy sessions_system on sessions to core_system using (true) with check (true);
grant select,insert,update on table sessions to core_app;
grant select,insert,update on table sessions to core_system;

create table users (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  email text not null,
  first_name text,
  last_name text,
  display_name text not null,
  status text not null,
  email_confirmed_at timestamptz,
  password_hash text,
  last_seen_at timestamptz,
  default_organization_id text,
  avatar text,
  last_organization_id text,
  constraint users_status_check check ((status = any (array['active', 'inactive', 'deactivated', 'suspended'])))
);
alter table users add constraint users_pkey primary key (id);
comment on table users is 'User account of a person.';
comment on column users.email is 'E-mail address used to sign in; unique among users that are not deleted.';
comment on column users.first_name is 'Given name.';
comment on column users.last_name is 'Family name.';
comment on column users.display_name is 'Name shown to other users.';
comment on column users.status is 'Account status; only active users can sign in.';
comment on column users.email_confirmed_at is 'When the e-mail address was verified; null until then.';
comment on column users.password_hash is 'argon2id password hash in PHC format.';
comment on column users.last_seen_at is 'When the user last signed in or refreshed the tokens of a session; null before the first time.';
comment on column users.default_organization_id is 'Id of the organization in which sign-ins begin when the user cannot act in the last one; null for the one joined first.';
comment on column users.avatar is 'Picture of the person.';
comment on column users.last_organization_id is 'Id of the organization in which the user acted last, where sign-ins begin: that of the last token of a session; at first, the one that invited the user.';
create unique index users_email_key on users (email) where (deleted_at is null);
create index users_search_index on users using gin (matched_form(coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(display_name, '')))) where (deleted_at is null);
alter table users enable row level security;
create policy users_system on users to core_system using (true) with check (true);
grant select,insert,update on table users to core_app;
grant select,insert,update on table users to core_system;

create table user_settings (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  timezone text,
  locale text not null,
  color_scheme text not null,
  constraint user_settings_color_scheme_check check ((color_scheme = any (array['system', 'light', 'dark'])))
);
alter table user_settings add constraint user_settings_pkey primary key (id);
comment on table user_settings is 'Preferences of a person for the user interface; created together with the account. Name and picture are those of the user, and the organization in which sign-ins begin is set with PUT /v1/account/default-organization.';
comment on column user_settings.timezone is 'Time zone of the person; null for that of the organization.';
comment on column user_settings.locale is 'Language, and region if it matters (BCP 47), for example en or pt-BR.';
comment on column user_settings.color_scheme is 'Colours of the user interface.';
create index user_settings_user_id_index on user_settings (user_id);
create unique index user_settings_user_id_key on user_settings (user_id) where (deleted_at is null);
alter table user_settings enable row level security;
create policy user_settings_app on user_settings to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy user_settings_system on user_settings to core_system using (true) with check (true);
grant select,insert,update on table user_settings to core_app;
grant select,insert,update on table user_settings to core_system;
