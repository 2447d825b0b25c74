import { gql } from '@apollo/client';

export const CRATES = gql`
  query Crates {
    crates {
      ...Label
    }
  }

  fragment Label on Crate {
    label
  }
`;

export const RESOLVED = gql`
  query Resolved {
    resolved(n: 7)
  }
`;
