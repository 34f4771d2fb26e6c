import { catalogueWith, monthly, yearly } from './offers.ts';

/** Prices of the sandbox of the payment provider: their lookup keys differ, so that no price of one account is taken for one of the other. */
export const sandboxCatalogue = catalogueWith({
  base: [monthly('sandbox_base_month', 0), yearly('sandbox_base_year', 0)],
  compliance: [monthly('sandbox_compliance_month', 45_000), yearly('sandbox_compliance_year', 500_000)],
  trust_center: [monthly('sandbox_trust_center_month', 30_000), yearly('sandbox_trust_center_year', 300_000)],
  registry: [monthly('sandbox_registry_month', 0), yearly('sandbox_registry_year', 0)],
  entity_management: [
    monthly('sandbox_entity_management_month', 20_000),
    yearly('sandbox_entity_management_year', 200_000),
  ],
  vulnerability_management: [
    monthly('sandbox_vulnerability_management_month', 10_000),
    yearly('sandbox_vulnerability_management_year', 100_000),
  ],
  domain_scanning: [monthly('sandbox_domain_scanning_month', 10_000), yearly('sandbox_domain_scanning_year', 100_000)],
  extra_evidence_storage: [monthly('sandbox_extra_evidence_storage_month', 1_000)],
  policy_management: [
    monthly('sandbox_policy_management_month', 1_000),
    yearly('sandbox_policy_management_year', 10_000),
  ],
  risk_management: [monthly('sandbox_risk_management_month', 1_000), yearly('sandbox_risk_management_year', 10_000)],
});
