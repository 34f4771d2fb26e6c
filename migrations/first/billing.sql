create table organization_billings (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  customer_id text,
  customer_generation integer not null,
  trial_generation integer not null,
  checkout_generation integer not null,
  checkout_order text,
  trial_ends_at timestamptz,
  drawn_round integer not null,
  applied_round integer not null,
  is_lapsed boolean not null,
  has_payment_method boolean not null,
  reconciled_at timestamptz,
  problem text,
  differences text,
  next_check_at timestamptz,
  noticed_trial_end timestamptz,
  billed_as jsonb,
  billing_email text,
  former_billing_email text
);
alter table organization_billings add constraint organization_billings_pkey primary key (id);
comment on table organization_billings is 'Billing of an organization, which covers the organizations below it; created together with it.';
comment on column organization_billings.customer_id is 'Id of its customer at the payment provider; null until there is one.';
comment on column organization_billings.customer_generation is 'Part of the idempotency key with which the customer is created. It grows when the provider has no customer for the key.';
comment on column organization_billings.trial_generation is 'The same of the subscription for the trial.';
comment on column organization_billings.checkout_generation is 'The same of the page on which the organization pays.';
comment on column organization_billings.checkout_order is 'Digest of what was ordered with this number: another order gets another page.';
comment on column organization_billings.trial_ends_at is 'When the trial ends that began with the organization, or when billing was turned on; null without one.';
comment on column organization_billings.drawn_round is 'Number of the last comparison with the provider that began.';
comment on column organization_billings.applied_round is 'Number of the last comparison that was written. One with a lower number read an older state, and is not written.';
comment on column organization_billings.is_lapsed is 'Whether the organization has neither a subscription nor a trial nor granted modules. Its API tokens do not work, and its integrations are disabled.';
comment on column organization_billings.has_payment_method is 'Whether the payment provider has a payment method of the organization.';
comment on column organization_billings.reconciled_at is 'When the state of the payment provider was last written.';
comment on column organization_billings.problem is 'Problems that an operator must settle at the payment provider; null for none.';
comment on column organization_billings.differences is 'Rows that the last comparison has repaired, although nobody had reported a change; null for none.';
comment on column organization_billings.next_check_at is 'When the customer is read again although nobody reports a change: something ends then, or the reading before has died. Null for never.';
comment on column organization_billings.noticed_trial_end is 'End of the trial of which people were notified; null for none.';
comment on column organization_billings.billed_as is 'Contact that the payment provider last got.';
comment on column organization_billings.billing_email is 'Address for invoices whose owner was notified.';
comment on column organization_billings.former_billing_email is 'The same before the last change, until its owner is notified; null otherwise.';
create unique index organization_billings_customer_id_key on organization_billings (customer_id) where (deleted_at is null);
create index organization_billings_next_check_at_index on organization_billings (next_check_at) where (deleted_at is null);
create index organization_billings_organization_id_created_at_id_index on organization_billings (organization_id, created_at, id) where (deleted_at is null);
create index organization_billings_organization_id_id_index on organization_billings (organization_id, id) where (deleted_at is null);
create unique index organization_billings_organization_id_key on organization_billings (organization_id) where (deleted_at is null);
create index organization_billings_organization_id_updated_at_id_index on organization_billings (organization_id, updated_at, id) where (deleted_at is null);
alter table organization_billings enable row level security;
create policy organization_billings_app on organization_billings to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_billings_system on organization_billings to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_billings to core_app;
grant select,insert,update on table organization_billings to core_system;

create table organization_prices (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  amount numeric(19,4) not null,
  amount_currency text not null,
  "interval" text not null,
  external_id text,
  lookup_key text,
  quantity integer not null,
  is_active boolean not null,
  subscription_id text,
  constraint organization_prices_amount_currency_check check ((amount_currency = any (array['aed', 'afn', 'all', 'amd', 'ang', 'aoa', 'ars', 'aud', 'awg', 'azn', 'bam', 'bbd', 'bdt', 'bgn', 'bhd', 'bif', 'bmd', 'bnd', 'bob', 'brl', 'bsd', 'btn', 'bwp', 'byn', 'bzd', 'cad', 'cdf', 'chf', 'clp', 'cny', 'cop', 'crc', 'cup', 'cve', 'czk', 'djf', 'dkk', 'dop', 'dzd', 'egp', 'ern', 'etb', 'eur', 'fjd', 'fkp', 'gbp', 'gel', 'ghs', 'gip', 'gmd', 'gnf', 'gtq', 'gyd', 'hkd', 'hnl', 'htg', 'huf', 'idr', 'ils', 'inr', 'iqd', 'irr', 'isk', 'jmd', 'jod', 'jpy', 'kes', 'kgs', 'khr', 'kmf', 'kpw', 'krw', 'kwd', 'kyd', 'kzt', 'lak', 'lbp', 'lkr', 'lrd', 'lsl', 'lyd', 'mad', 'mdl', 'mga', 'mkd', 'mmk', 'mnt', 'mop', 'mru', 'mur', 'mvr', 'mwk', 'mxn', 'myr', 'mzn', 'nad', 'ngn', 'nio', 'nok', 'npr', 'nzd', 'omr', 'pab', 'pen', 'pgk', 'php', 'pkr', 'pln', 'pyg', 'qar', 'ron', 'rsd', 'rub', 'rwf', 'sar', 'sbd', 'scr', 'sdg', 'sek', 'sgd', 'shp', 'sle', 'sos', 'srd', 'ssp', 'stn', 'svc', 'syp', 'szl', 'thb', 'tjs', 'tmt', 'tnd', 'top', 'try', 'ttd', 'twd', 'tzs', 'uah', 'ugx', 'usd', 'uyu', 'uzs', 'ved', 'ves', 'vnd', 'vuv', 'wst', 'xaf', 'xcd', 'xof', 'xpf', 'yer', 'zar', 'zmw', 'zwg']))),
  constraint organization_prices_interval_check check (("interval" = any (array['month', 'year'])))
);
alter table organization_prices add constraint organization_prices_pkey primary key (id);
comment on table organization_prices is 'Price that an organization pays for a product, as the payment provider has it.';
comment on column organization_prices.amount is 'Price for one interval.';
comment on column organization_prices.amount_currency is 'Currency of `amount`: its code in ISO 4217.';
comment on column organization_prices."interval" is 'Interval of the payments.';
comment on column organization_prices.external_id is 'Id of the price at the payment provider.';
comment on column organization_prices.lookup_key is 'Name of the price in the catalogue; null for a price that the catalogue does not have.';
comment on column organization_prices.quantity is 'How many times it is paid.';
comment on column organization_prices.is_active is 'Whether the price is in use.';
comment on column organization_prices.subscription_id is 'Subscription in which it is paid.';
create index organization_prices_organization_id_amount_id_index on organization_prices (organization_id, amount, id) where (deleted_at is null);
create index organization_prices_organization_id_created_at_id_index on organization_prices (organization_id, created_at, id) where (deleted_at is null);
create index organization_prices_organization_id_id_index on organization_prices (organization_id, id) where (deleted_at is null);
create index organization_prices_organization_id_is_active_id_index on organization_prices (organization_id, is_active, id) where (deleted_at is null);
create index organization_prices_organization_id_subscription_id_id_index on organization_prices (organization_id, subscription_id, id) where (deleted_at is null);
create index organization_prices_organization_id_updated_at_id_index on organization_prices (organization_id, updated_at, id) where (deleted_at is null);
create unique index organization_prices_subscription_id_external_id_key on organization_prices (subscription_id, external_id) where (deleted_at is null);
create index organization_prices_subscription_id_index on organization_prices (subscription_id) where (subscription_id is not null);
alter table organization_prices enable row level security;
create policy organization_prices_app on organization_prices to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_prices_system on organization_prices to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_prices to core_app;
grant select,insert,update on table organization_prices to core_system;

create table organization_products (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  module text,
  external_id text,
  is_active boolean not null,
  subscription_id text,
  price_id text,
  constraint organization_products_module_check check ((module = any (array['compliance', 'domain_scanning', 'entity_management', 'policy_management', 'registry', 'risk_management', 'trust_center', 'vulnerability_management'])))
);
alter table organization_products add constraint organization_products_pkey primary key (id);
comment on table organization_products is 'Product that an organization has subscribed to, as the payment provider has it.';
comment on column organization_products.module is 'Product module that it contains; null if it contains none.';
comment on column organization_products.external_id is 'Id of the product at the payment provider.';
comment on column organization_products.is_active is 'Whether the organization may use it.';
comment on column organization_products.subscription_id is 'Subscription that contains it.';
comment on column organization_products.price_id is 'Price that is paid for it.';
create index organization_products_organization_id_created_at_id_index on organization_products (organization_id, created_at, id) where (deleted_at is null);
create index organization_products_organization_id_id_index on organization_products (organization_id, id) where (deleted_at is null);
create index organization_products_organization_id_is_active_id_index on organization_products (organization_id, is_active, id) where (deleted_at is null);
create index organization_products_organization_id_module_id_index on organization_products (organization_id, module, id) where (deleted_at is null);
create index organization_products_organization_id_price_id_id_index on organization_products (organization_id, price_id, id) where (deleted_at is null);
create index organization_products_organization_id_subscription_id_id_index on organization_products (organization_id, subscription_id, id) where (deleted_at is null);
create index organization_products_organization_id_updated_at_id_index on organization_products (organization_id, updated_at, id) where (deleted_at is null);
create index organization_products_price_id_index on organization_products (price_id) where (price_id is not null);
create unique index organization_products_subscription_id_external_id_key on organization_products (subscription_id, external_id) where (deleted_at is null);
create index organization_products_subscription_id_index on organization_products (subscription_id) where (subscription_id is not null);
alter table organization_products enable row level security;
create policy organization_products_app on organization_products to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_products_system on organization_products to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_products to core_app;
grant select,insert,update on table organization_products to core_system;

create table organization_subscriptions (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  external_id text,
  status text not null,
  is_active boolean not null,
  is_trial_of_server boolean not null,
  "interval" text,
  trial_ends_at timestamptz,
  ends_at timestamptz,
  cancels_at timestamptz,
  next_attempt_at timestamptz,
  days_until_due integer,
  constraint organization_subscriptions_interval_check check (("interval" = any (array['month', 'year'])))
);
alter table organization_subscriptions add constraint organization_subscriptions_pkey primary key (id);
comment on table organization_subscriptions is 'Subscription of an organization at the payment provider.';
comment on column organization_subscriptions.external_id is 'Id of the subscription at the payment provider.';
comment on column organization_subscriptions.status is 'Status as the payment provider names it: trialing, active, past_due, incomplete, canceled, incomplete_expired, unpaid, paused, or one that is newer than this server.';
comment on column organization_subscriptions.is_active is 'Whether the organization may use the products of the subscription.';
comment on column organization_subscriptions.is_trial_of_server is 'Whether the server created it for the trial of the organization.';
comment on column organization_subscriptions."interval" is 'Interval of the payments; null if its prices have several or none.';
comment on column organization_subscriptions.trial_ends_at is 'When the trial ends; null without a trial.';
comment on column organization_subscriptions.ends_at is 'When the paid period ends; a subscription that is not cancelled then continues.';
comment on column organization_subscriptions.cancels_at is 'When the subscription ends because it was cancelled; null for one that continues.';
comment on column organization_subscriptions.next_attempt_at is 'When the payment provider tries again to collect an overdue payment; null if it does not. Until then the subscription applies.';
comment on column organization_subscriptions.days_until_due is 'Days from an invoice until its payment is due.';
create unique index organization_subscriptions_external_id_key on organization_subscriptions (external_id) where (deleted_at is null);
create index organization_subscriptions_organization_id_created_at_id_index on organization_subscriptions (organization_id, created_at, id) where (deleted_at is null);
create index organization_subscriptions_organization_id_id_index on organization_subscriptions (organization_id, id) where (deleted_at is null);
create index organization_subscriptions_organization_id_is_active_id_index on organization_subscriptions (organization_id, is_active, id) where (deleted_at is null);
create index organization_subscriptions_organization_id_updated_at_id_index on organization_subscriptions (organization_id, updated_at, id) where (deleted_at is null);
alter table organization_subscriptions enable row level security;
create policy organization_subscriptions_app on organization_subscriptions to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy organization_subscriptions_system on organization_subscriptions to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table organization_subscriptions to core_app;
grant select,insert,update on table organization_subscriptions to core_system;
