//! Password hashes.

use argon2::Block;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};

use super::Password;
use super::parameters::Parameters;

/// The prefix of a hash: Argon2id, version 1.3.
const HEAD: &str = "$argon2id$v=19$";
const SALT: usize = 16;
const HASH: usize = 32;

/// The hash of a password as text: `$argon2id$v=19$m=19456,t=2,p=1$salt$hash` (the PHC string
/// format). `Debug` shows none of it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// The text to store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text without its last part: the algorithm, its parameters and the salt. It is not a
    /// secret.
    pub fn salt(&self) -> &str {
        self.0.rsplit_once('$').map_or("", |(salt, _)| salt)
    }
}

/// The algorithm, parameters and salt of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::accounts) struct Salt {
    pub(super) parameters: Parameters,
    bytes: Vec<u8>,
}

impl Salt {
    /// Creates a new salt; `None` if the system provides no random bytes.
    pub(super) fn random(parameters: Parameters) -> Option<Self> {
        let mut bytes = vec![0; SALT];
        SystemRandom::new().fill(&mut bytes).ok()?;
        Some(Self { parameters, bytes })
    }

    /// Parses the salt of a stored hash.
    pub(in crate::accounts) fn read(text: &str) -> Option<Self> {
        let (parameters, salt) = text.strip_prefix(HEAD)?.split_once('$')?;
        let bytes = STANDARD_NO_PAD.decode(salt).ok()?;
        Some(Self {
            parameters: Parameters::read(parameters)?,
            bytes,
        })
    }

    /// Hashes a password in reused memory. `None` if the algorithm does not accept the parameters.
    pub(super) fn hash(
        &self,
        password: &Password,
        memory: &mut Vec<Block>,
    ) -> Option<PasswordHash> {
        let argon2 = self.parameters.argon2()?;
        let blocks = argon2.params().block_count();
        if memory.len() < blocks {
            memory.resize(blocks, Block::default());
        }

        let mut hash = [0; HASH];
        argon2
            .hash_password_into_with_memory(
                password.as_str().as_bytes(),
                &self.bytes,
                &mut hash,
                // The memory is larger after a hash with costlier parameters.
                &mut memory[..blocks],
            )
            .ok()?;

        let encode = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);

        Some(PasswordHash(format!(
            "{HEAD}{}${}${}",
            self.parameters,
            encode(&self.bytes),
            encode(&hash)
        )))
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash")
    }
}
