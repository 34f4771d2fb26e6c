create table announced_deletions (
  id text not null,
  organization_id text not null,
  due_at timestamptz not null
);
alter table announced_deletions add constraint announced_deletions_pkey primary key (id);
create index announced_deletions_due on announced_deletions (organization_id, due_at, id) where (due_at is not null);
grant select,insert,delete,update on table announced_deletions to core_system;

create table backfill_runs (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  routine text not null,
  version integer not null,
  status text not null,
  position text,
  examined_records bigint not null,
  changed_records bigint not null,
  failures jsonb,
  completed_at timestamptz,
  constraint backfill_runs_status_check check ((status = any (array['running', 'completed'])))
);
alter table backfill_runs add constraint backfill_runs_pkey primary key (id);
comment on table backfill_runs is 'Run of a version of a backfill, which gives existing records what a new release needs.';
comment on column backfill_runs.routine is 'Name of the backfill.';
comment on column backfill_runs.version is 'Version of the backfill. A higher version runs again.';
comment on column backfill_runs.status is 'Status of the run.';
comment on column backfill_runs.position is 'Id of the last record of the last page; null before the first page.';
comment on column backfill_runs.examined_records is 'Number of records that the run has looked at.';
comment on column backfill_runs.changed_records is 'Number of records that it has changed or created.';
comment on column backfill_runs.failures is 'Records that failed and are not repeated yet, each with the reason.';
comment on column backfill_runs.completed_at is 'When the last page ended; null until then.';
create unique index backfill_runs_routine_version_key on backfill_runs (routine, version) where (deleted_at is null);
alter table backfill_runs enable row level security;
create policy backfill_runs_app on backfill_runs to core_app using (false) with check (false);
create policy backfill_runs_system on backfill_runs to core_system using (true) with check (true);
grant select,insert,update on table backfill_runs to core_app;
grant select,insert,update on table backfill_runs to core_system;

create table identity_providers (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  issuer text not null,
  client_id text not null,
  client_secret text not null,
  allowed_domains text[] not null,
  tested_at timestamptz,
  is_enforced boolean not null,
  revision text not null
);
alter table identity_providers add constraint identity_providers_pkey primary key (id);
comment on table identity_providers is 'OpenID Connect provider for the single sign-on of an organization.';
comment on column identity_providers.issuer is 'URL of the provider, below which it has its OpenID Connect metadata.';
comment on column identity_providers.client_id is 'Client id of this server at the provider.';
comment on column identity_providers.client_secret is 'Client secret, encrypted.';
comment on column identity_providers.allowed_domains is 'Domains of e-mail addresses whose people become members when they first sign in with it, once a DNS record proves the domain; empty for none.';
comment on column identity_providers.tested_at is 'When a manager signed in with the current settings; null: not yet.';
comment on column identity_providers.is_enforced is 'Whether all members must sign in with it to act in the organization and in the organizations that are part of it, except owners of the organization or of one above it.';
comment on column identity_providers.revision is 'Number that changes with issuer and client: sessions that began with earlier values have ended.';
create index identity_providers_organization_id_created_at_id_index on identity_providers (organization_id, created_at, id) where (deleted_at is null);
create index identity_providers_organization_id_id_index on identity_providers (organization_id, id) where (deleted_at is null);
create unique index identity_providers_organization_id_key on identity_providers (organization_id) where (deleted_at is null);
create index identity_providers_organization_id_updated_at_id_index on identity_providers (organization_id, updated_at, id) where (deleted_at is null);
alter table identity_providers enable row level security;
create policy identity_providers_app on identity_providers to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy identity_providers_system on identity_providers to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table identity_providers to core_app;
grant select,insert,update on table identity_providers to core_system;

create table invites (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  recipient text not null,
  role text not null,
  status text not null,
  send_attempts integer not null,
  expires_at timestamptz,
  inviter_id text,
  active_recipient text,
  round integer not null,
  sent_round integer not null,
  constraint invites_role_check check ((role = any (array['owner', 'super_admin', 'admin', 'member', 'auditor']))),
  constraint invites_status_check check ((status = any (array['pending', 'sent', 'accepted', 'declined', 'expired', 'withdrawn'])))
);
alter table invites add constraint invites_pkey primary key (id);
comment on table invites is 'Invitation to join an organization. Creating it sends an e-mail with a link that accepts or declines it.';
comment on column invites.recipient is 'E-mail address of the invited person.';
comment on column invites.role is 'Role granted on acceptance; not above the role of the inviter.';
comment on column invites.status is 'Status of the invitation; pending until an e-mail has been sent.';
comment on column invites.send_attempts is 'Number of e-mails sent.';
comment on column invites.expires_at is 'When the invitation expires: 14 days after it was last requested.';
comment on column invites.inviter_id is 'Person who last requested the invitation.';
comment on column invites.active_recipient is '`recipient` while the invitation is open; null afterwards: the address can be invited again.';
comment on column invites.round is '1 at first; greater by 1 each time the e-mail is requested again.';
comment on column invites.sent_round is '`round` of the last e-mail that was sent; 0 for none.';
create index invites_inviter_id_index on invites (inviter_id) where (inviter_id is not null);
create unique index invites_organization_id_active_recipient_key on invites (organization_id, active_recipient) where (deleted_at is null);
create index invites_organization_id_created_at_id_index on invites (organization_id, created_at, id) where (deleted_at is null);
create index invites_organization_id_expires_at_descending on invites (organization_id, expires_at desc nulls last, id desc) where (deleted_at is null);
create index invites_organization_id_expires_at_id_index on invites (organization_id, expires_at, id) where (deleted_at is null);
create index invites_organization_id_id_index on invites (organization_id, id) where (deleted_at is null);
create index invites_organization_id_recipient_id_index on invites (organization_id, recipient, id) where (deleted_at is null);
create index invites_organization_id_role_id_index on invites (organization_id, role, id) where (deleted_at is null);
create index invites_organization_id_status_id_index on invites (organization_id, status, id) where (deleted_at is null);
create index invites_organization_id_updated_at_id_index on invites (organization_id, updated_at, id) where (deleted_at is null);
create index invites_recipient_beginning on invites (organization_id, "left"(matched_form(recipient), 100) collate "C") where (deleted_at is null);
create index invites_search_index on invites using gin (organization_id, matched_form(coalesce(recipient, '')) gin_trgm_ops, search_words(matched_form(coalesce(recipient, '')))) where (deleted_at is null);
alter table invites enable row level security;
create policy invites_app on invites to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy invites_system on invites to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table invites to core_app;
grant select,insert,update on table invites to core_system;

create table memberships (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  user_id text not null,
  role text not null,
  constraint memberships_role_check check ((role = any (array['owner', 'super_admin', 'admin', 'member', 'auditor'])))
);
alter table memberships add constraint memberships_pkey primary key (id);
comment on table memberships is 'Membership of a user in an organization, with one role.';
comment on column memberships.user_id is 'User who is a member of the organization.';
comment on column memberships.role is 'Role of the user in the organization.';
create index memberships_created_at_id_index on memberships (created_at, id) where (deleted_at is null);
create index memberships_organization_id_created_at_id_index on memberships (organization_id, created_at, id) where (deleted_at is null);
create index memberships_organization_id_id_index on memberships (organization_id, id) where (deleted_at is null);
create index memberships_organization_id_role_id_index on memberships (organization_id, role, id) where (deleted_at is null);
create index memberships_organization_id_updated_at_id_index on memberships (organization_id, updated_at, id) where (deleted_at is null);
create unique index memberships_organization_id_user_id_key on memberships (organization_id, user_id) where (deleted_at is null);
create index memberships_updated_at_id_index on memberships (updated_at, id) where (deleted_at is null);
create index memberships_user_id_index on memberships (user_id);
alter table memberships enable row level security;
create policy memberships_app on memberships to core_app using (((organization_id = current_setting('core.organization_id', true)) or (user_id = current_setting('core.user_id', true)))) with check (((organization_id = current_setting('core.organization_id', true)) or ((user_id = current_setting('core.user_id', true)) and (deleted_at is not null))));
create policy memberships_system on memberships to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table memberships to core_app;
grant select,insert,update on table memberships to core_system;

create table onboardings (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  user_id text not null,
  company_name text not null,
  domains text[] not null,
  company_details jsonb,
  user_details jsonb,
  compliance jsonb,
  created_organization_id text not null
);
alter table onboardings add constraint onboardings_pkey primary key (id);
comment on table onboardings is 'Answers of a person to the questions at the beginning. Giving them creates an organization, of which the person is the owner.';
comment on column onboardings.company_name is 'Name of the company, and of the organization unless the person has one of that name.';
comment on column onboardings.domains is 'E-mail domains of the company; they become those of the settings of the organization.';
comment on column onboardings.company_details is 'About the company, for example its size and sector.';
comment on column onboardings.user_details is 'About the person, for example their position.';
comment on column onboardings.compliance is 'Compliance goals of the company, and their status.';
comment on column onboardings.created_organization_id is 'Id of the organization that was created.';
create index onboardings_user_id_index on onboardings (user_id);
alter table onboardings enable row level security;
create policy onboardings_app on onboardings to core_app using ((user_id = current_setting('core.user_id', true))) with check ((user_id = current_setting('core.user_id', true)));
create policy onboardings_system on onboardings to core_system using (true) with check (true);
grant select,insert,update on table onboardings to core_app;
grant select,insert,update on table onboardings to core_system;

create table organizations (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  name text not null,
  display_name text,
  description text,
  parent_id text,
  is_personal boolean not null,
  founder_id text,
  is_archived boolean not null,
  name_form text not null
);
alter table organizations add constraint organizations_pkey primary key (id);
comment on table organizations is 'Tenant: all data of a customer belongs to one organization.';
comment on column organizations.name is 'Name; unique among the organizations that one user created.';
comment on column organizations.display_name is 'Display name; falls back to the name when empty.';
comment on column organizations.description is 'Description of the organization.';
comment on column organizations.parent_id is 'Parent organization; its roles also apply in this organization.';
comment on column organizations.is_personal is 'Whether the organization was created at sign-up for one user.';
comment on column organizations.founder_id is 'Id of the user who created the organization; null if the server did.';
comment on column organizations.is_archived is 'Whether all changes in the organization are refused until this is taken back. People can leave it, and what admits people or programs can be deleted.';
comment on column organizations.name_form is 'Form in which `name` is compared with that of others.';
create unique index organizations_founder_id_name_form_key on organizations (founder_id, name_form) where (deleted_at is null);
create index organizations_name_index on organizations (name) where (deleted_at is null);
create index organizations_parent_id_index on organizations (parent_id) where (parent_id is not null);
create index organizations_search_index on organizations using gin (matched_form(((coalesce(name, '') || ' ') || coalesce(display_name, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(display_name, ''))))) where (deleted_at is null);
alter table organizations enable row level security;
create policy organizations_system on organizations to core_system using (true) with check (true);
grant select,insert,update on table organizations to core_app;
grant select,insert,update on table organizations to core_system;

create table organization_modules (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  module text not null,
  source text not null,
  ends_at timestamptz,
  constraint organization_modules_module_check check ((module = any (array['compliance', 'domain_scanning', 'entity_management', 'policy_management', 'registry', 'risk_management', 'trust_center', 'vulnerability_management']))),
  constraint organization_modules_source_check check ((source = any (array['base', 'trial', 'subscription', 'granted'])))
);
alter table organization_modules add constraint organization_modules_pkey primary key (id);
comment on table organization_modules is 'Product module enabled for an organization and its child organizations.';
comment on column organization_modules.module is 'Product module.';
comment on column organization_modules.source is 'Why the organization has the module: it is part of every plan, of the trial, of a subscription, or the operator has granted it.';
comment on column organization_modules.ends_at is 'When the organization loses the module; null if no end is known.';
create index organization_modules_organization_id_created_at_id_index on organization_modules (organization_id, created_at, id) where (deleted_at is null);
create index organization_modules_organization_id_id_index on organization_modules (organization_id, id) where (deleted_at is null);
create index organization_modules_organization_id_module_id_index on organization_modules (organization_id, module, id) where (deleted_at is null);
create unique index organization_modules_organization_id_module_source_key on organization_modules (organization_id, module, source) where (deleted_at is null);
create index organization_modules_organization_id_source_id_index on organization_modules (organization_id, source, id) where (deleted_at is null);
create index organization_modules_organization_id_updated_at_id_index on organization_modules (organization_id, updated_at, id) where (deleted_at is null);
alter table organization_modules enable row level security;
create policy organization_modules_app on organization_modules to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_modules_system on organization_modules to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_modules to core_app;
grant select,insert,update on table organization_modules to core_system;

create table organization_removals (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_name text not null,
  removed_organization_id text not null,
  requester_id text,
  notice_email text,
  status text not null,
  open_steps text[] not null,
  skipped_steps text[] not null,
  total_records bigint,
  removed_records bigint not null,
  completed_at timestamptz,
  constraint organization_removals_status_check check ((status = any (array['pending', 'running', 'completed', 'undoing'])))
);
alter table organization_removals add constraint organization_removals_pkey primary key (id);
comment on table organization_removals is 'Removal of the contents of a deleted organization. They are inaccessible from its deletion on; the server removes them afterwards.';
comment on column organization_removals.organization_name is 'Name that the organization had.';
comment on column organization_removals.removed_organization_id is 'Id that it had.';
comment on column organization_removals.requester_id is 'Id of the person who deleted it; null if the server did.';
comment on column organization_removals.notice_email is 'Address for invoices that the organization had, which is notified of the deletion.';
comment on column organization_removals.status is 'Status of the removal; undoing while an operator has the organization restored.';
comment on column organization_removals.open_steps is 'Steps of the removal that have begun or wait, and have not ended.';
comment on column organization_removals.skipped_steps is 'Steps that an operator has skipped, because they kept failing.';
comment on column organization_removals.total_records is 'Number of records to remove; null until the removal has begun.';
comment on column organization_removals.removed_records is 'Number of records that are removed.';
comment on column organization_removals.completed_at is 'When the last step ended.';
create unique index organization_removals_removed_organization_id_key on organization_removals (removed_organization_id) where (deleted_at is null);
create index organization_removals_requester_id_index on organization_removals (requester_id) where (deleted_at is null);
alter table organization_removals enable row level security;
create policy organization_removals_app on organization_removals to core_app using ((requester_id = current_setting('core.user_id', true))) with check ((requester_id = current_setting('core.user_id', true)));
create policy organization_removals_system on organization_removals to core_system using (true) with check (true);
grant select,insert,update on table organization_removals to core_app;
grant select,insert,update on table organization_removals to core_system;

create table organization_settings (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  billing_email text,
  billing_phone text,
  billing_line1 text,
  billing_line2 text,
  billing_city text,
  billing_region text,
  billing_postal_code text,
  billing_country text,
  tax_id text,
  timezone text not null,
  requires_second_factor boolean not null,
  files_need_verdict boolean not null,
  email_domains text[] not null,
  admits_email_domains boolean not null,
  email_theme text not null,
  marked_for_deletion_at timestamptz,
  deletion_not_before timestamptz,
  deletion_notice text,
  deletion_requester_id text,
  spared_until timestamptz,
  constraint organization_settings_deletion_notice_check check ((deletion_notice = any (array['marked', 'three_days', 'one_day']))),
  constraint organization_settings_email_theme_check check ((email_theme = any (array['modern', 'classic'])))
);
alter table organization_settings add constraint organization_settings_pkey primary key (id);
comment on table organization_settings is 'Settings of an organization; created together with it.';
comment on column organization_settings.billing_email is 'E-mail address for invoices; initially the address of the owner.';
comment on column organization_settings.billing_phone is 'Telephone number for questions about invoices, in the form +4312345 (E.164).';
comment on column organization_settings.billing_line1 is 'Billing address: street and number, or post office box.';
comment on column organization_settings.billing_line2 is 'Billing address: floor, building or department.';
comment on column organization_settings.billing_city is 'Billing address: city.';
comment on column organization_settings.billing_region is 'Billing address: state, province or county.';
comment on column organization_settings.billing_postal_code is 'Billing address: postal code.';
comment on column organization_settings.billing_country is 'Billing address: country, by its code of two capital letters (ISO 3166-1).';
comment on column organization_settings.tax_id is 'Tax number of the organization on invoices, such as its VAT number.';
comment on column organization_settings.timezone is 'Time zone of the organization; determines where its days begin.';
comment on column organization_settings.requires_second_factor is 'Whether members need a second factor to act in the organization and in the organizations that are part of it. Members without one can set it up, and then enter.';
comment on column organization_settings.files_need_verdict is 'Whether files of the organization, also those that are there already, are withheld until an API token has reported them clean (FileVerdict). Pictures of people and the documents of exports and imports are not withheld.';
comment on column organization_settings.email_domains is 'Domains of e-mail addresses that belong to the organization, such as example.com: stored in lower case, and as ASCII (UTS 46). A domain is valid while a DNS record proves it; POST /v1/email-domains/verify shows the record and looks for it.';
comment on column organization_settings.admits_email_domains is 'Whether people become members, with the role member, when they confirm an address of one of these domains. Former members do not, and nobody does while single sign-on is enforced.';
comment on column organization_settings.email_theme is 'Brand of the e-mails that are sent for the organization.';
comment on column organization_settings.marked_for_deletion_at is 'When the organization was marked for deletion, because nobody pays for it or because an owner has announced it; null when it is not marked.';
comment on column organization_settings.deletion_not_before is 'Earliest time of the deletion of which people were notified; null when the organization is not marked.';
comment on column organization_settings.deletion_notice is 'Last notice of the deletion that people were sent; null before the first.';
comment on column organization_settings.deletion_requester_id is 'Id of the owner who has announced the deletion; null if nobody has.';
comment on column organization_settings.spared_until is 'Time until which an operator spares the organization from deletion; null for none.';
create index organization_settings_marked_for_deletion_at_index on organization_settings (marked_for_deletion_at) where (deleted_at is null);
create index organization_settings_organization_id_created_at_id_index on organization_settings (organization_id, created_at, id) where (deleted_at is null);
create index organization_settings_organization_id_id_index on organization_settings (organization_id, id) where (deleted_at is null);
create unique index organization_settings_organization_id_key on organization_settings (organization_id) where (deleted_at is null);
create index organization_settings_organization_id_updated_at_id_index on organization_settings (organization_id, updated_at, id) where (deleted_at is null);
alter table organization_settings enable row level security;
create policy organization_settings_app on organization_settings to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_settings_system on organization_settings to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_settings to core_app;
grant select,insert,update on table organization_settings to core_system;

create table subscribers (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  email text not null,
  phone_number text,
  is_email_verified boolean not null,
  is_phone_verified boolean not null,
  is_active boolean not null,
  is_unsubscribed boolean not null,
  send_attempts integer not null,
  expires_at timestamptz,
  user_id text,
  tags text[] not null,
  subscribed_email text,
  round integer not null,
  sent_round integer not null
);
alter table subscribers add constraint subscribers_pkey primary key (id);
comment on table subscribers is 'E-mail address that subscribes to the e-mails of an organization. Creating it sends an e-mail with a link that verifies the address; only then is it active.';
comment on column subscribers.email is 'E-mail address of the subscriber.';
comment on column subscribers.phone_number is 'Phone number in international form (E.164), for example +4312345678.';
comment on column subscribers.is_email_verified is 'Whether the link of a verification e-mail was used.';
comment on column subscribers.is_phone_verified is 'Whether the phone number was verified. The server sends no text messages, so it is false.';
comment on column subscribers.is_active is 'Whether e-mails may be sent to the address: it is verified, and has not unsubscribed.';
comment on column subscribers.is_unsubscribed is 'Whether the subscription has ended. Only its e-mailed link can undo this; a new subscriber of the same address verifies it again.';
comment on column subscribers.send_attempts is 'Number of verification e-mails sent.';
comment on column subscribers.expires_at is 'When the link of the verification e-mail expires: 7 days after it was last requested.';
comment on column subscribers.user_id is 'Person in the organization who has confirmed the same address; null if there was none. It stays when they leave.';
comment on column subscribers.tags is 'Search tags.';
comment on column subscribers.subscribed_email is '`email` until the subscription ends; null afterwards: the address can subscribe again.';
comment on column subscribers.round is '1 at first; greater by 1 each time the verification e-mail is requested again.';
comment on column subscribers.sent_round is '`round` of the last verification e-mail that was sent; 0 for none.';
create index subscribers_email_beginning on subscribers (organization_id, "left"(matched_form(email), 100) collate "C") where (deleted_at is null);
create index subscribers_organization_id_created_at_id_index on subscribers (organization_id, created_at, id) where (deleted_at is null);
create index subscribers_organization_id_email_order on subscribers (organization_id, email collate record_order, id) where (deleted_at is null);
create index subscribers_organization_id_expires_at_descending on subscribers (organization_id, expires_at desc nulls last, id desc) where (deleted_at is null);
create index subscribers_organization_id_expires_at_id_index on subscribers (organization_id, expires_at, id) where (deleted_at is null);
create index subscribers_organization_id_id_index on subscribers (organization_id, id) where (deleted_at is null);
create index subscribers_organization_id_is_active_id_index on subscribers (organization_id, is_active, id) where (deleted_at is null);
create index subscribers_organization_id_is_email_verified_id_index on subscribers (organization_id, is_email_verified, id) where (deleted_at is null);
create index subscribers_organization_id_is_unsubscribed_id_index on subscribers (organization_id, is_unsubscribed, id) where (deleted_at is null);
create unique index subscribers_organization_id_subscribed_email_key on subscribers (organization_id, subscribed_email) where (deleted_at is null);
create index subscribers_organization_id_updated_at_id_index on subscribers (organization_id, updated_at, id) where (deleted_at is null);
create index subscribers_organization_id_user_id_id_index on subscribers (organization_id, user_id, id) where (deleted_at is null);
create index subscribers_search_index on subscribers using gin (organization_id, matched_form(coalesce(email, '')) gin_trgm_ops, search_words(matched_form(coalesce(email, '')))) where (deleted_at is null);
create index subscribers_subscribed_email_index on subscribers (subscribed_email) where (deleted_at is null);
create index subscribers_tags_words on subscribers using gin (tenant_words(organization_id, tags)) where (deleted_at is null);
create index subscribers_user_id_index on subscribers (user_id) where (user_id is not null);
alter table subscribers enable row level security;
create policy subscribers_app on subscribers to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy subscribers_system on subscribers to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table subscribers to core_app;
grant select,insert,update on table subscribers to core_system;

create table support_consents (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  expires_at timestamptz not null
);
alter table support_consents add constraint support_consents_pkey primary key (id);
comment on table support_consents is 'Consent of an organization to support access. While it exists, support staff can sign in to the organization; deleting it ends their access immediately.';
comment on column support_consents.expires_at is 'When the consent ends, and with it all access under it; at most 30 days after it is given.';
create index support_consents_organization_id_created_at_id_index on support_consents (organization_id, created_at, id) where (deleted_at is null);
create index support_consents_organization_id_id_index on support_consents (organization_id, id) where (deleted_at is null);
create unique index support_consents_organization_id_key on support_consents (organization_id) where (deleted_at is null);
create index support_consents_organization_id_updated_at_id_index on support_consents (organization_id, updated_at, id) where (deleted_at is null);
alter table support_consents enable row level security;
create policy support_consents_app on support_consents to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy support_consents_system on support_consents to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table support_consents to core_app;
grant select,insert,update on table support_consents to core_system;
