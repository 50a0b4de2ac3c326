//! The program. Its exit codes are chosen here and nowhere else: 0 when it did
//! what it was told and stopped when told, 1 when a file or the port kept it
//! from serving or the request of `--get` was answered with an error, 2 when what was typed is wrong, 130 when it was made to stop
//! at once.

use std::io::{self, Write as _};
use std::process;

use turntable::Ended;
use turntable::start::StartError;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let code = match turntable::run(std::env::args_os()) {
        Ok(Ended::Well) => 0,
        Ok(Ended::Refused) => 1,
        Ok(Ended::AtOnce) => 130,
        Err(error) => {
            // With stderr closed there is nobody to tell.
            let _ = writeln!(io::stderr(), "turntable: {error}");
            match error {
                StartError::Environment(_) => 1,
                StartError::Usage(_) => 2,
            }
        }
    };
    // Not a return: threads that still run SQL for nobody would be waited for.
    process::exit(code);
}
