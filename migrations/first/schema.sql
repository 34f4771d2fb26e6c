create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create collation record_order (provider = icu, locale = 'und');
grant usage on schema public to core_app, core_system;
