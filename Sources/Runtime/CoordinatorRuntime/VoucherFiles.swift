import Admission
import Linux
import Messages
import SharedArena

/// The files in which clients see which answers they may repeat (SEMANTICS §5.24): one beside each
/// socket of clients, all with the same words.
final class VoucherFiles {
    /// A class, since an array cannot hold what cannot be copied.
    private final class Kept {
        let file: VoucherFile
        init(_ file: consuming VoucherFile) { self.file = file }
    }

    private let files: [Kept]
    /// Words of each; 0 where no vouchers are issued.
    let words: Int
    /// Why none are, although they are wanted.
    let fault: String?

    /// The lock of the runtime directory is held, and nobody is served yet: what earlier
    /// coordinators issued falls here.
    init(_ listeners: [Listener], in paths: RuntimePaths, epoch: Epoch, words: Int) {
        let directories = listeners.filter(\.issuesVouchers).map { $0.directory(in: paths) }
        for directory in directories { VoucherFile.closeAll(in: directory) }
        var (files, fault) = ([Kept](), String?.none)
        if words > 0 {
            do throws(Errno) {
                for directory in directories {
                    files.append(
                        Kept(try VoucherFile(in: directory, epoch: epoch, words: words)))
                }
            } catch {
                (files, fault) = ([], "\(error)")
            }
        }
        (self.files, self.fault) = (files, fault)
        self.words = files.isEmpty ? 0 : words
    }

    /// Writes what was decided, in order.
    func write(_ writes: [VoucherWrite]) {
        for write in writes {
            for kept in files {
                switch write {
                case .word(let index, let number): kept.file.set(index, to: number)
                case .floor(let number): kept.file.raise(to: number)
                }
            }
        }
    }
}

extension Listener {
    /// Whether those who connect there may repeat answers: operators see to it that things change.
    var issuesVouchers: Bool { self == .front || self == .web }
}
