/// One place in the repository that breaks a rule, with what to do about it.
struct Finding: Equatable, CustomStringConvertible {
    let file: String
    let line: Int
    let rule: String
    let remedy: String

    var description: String { "\(file):\(line): \(rule): \(remedy)" }
}
