import FuzzTargets
import Glibc
import TestKit

/// The committed inputs of one target, `Tests/Fuzz/Corpus/<target>/`.
struct Corpus {
    struct Input {
        let path: String
        let bytes: [UInt8]
    }

    /// Sorted by name, so that all runs see the same order.
    let inputs: [Input]

    enum Failure: Error { case unreadable(String) }

    init(of target: FuzzTarget) throws(Failure) {
        let folder = RepositoryRoot.file("Tests/Fuzz/Corpus/\(target.rawValue)")
        guard let stream = opendir(folder) else { throw .unreadable(folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            guard Int(entry.pointee.d_type) == Int(DT_REG) else { continue }
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { name in
                    String(cString: UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))
                })
        }
        var inputs: [Input] = []
        for name in names.sorted() {
            guard let bytes = FileBytes.read("\(folder)/\(name)") else { throw .unreadable(name) }
            inputs.append(Input(path: "\(folder)/\(name)", bytes: bytes))
        }
        self.inputs = inputs
    }
}
