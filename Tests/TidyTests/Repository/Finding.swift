/// A violation of a rule, with its location and how to fix it.
struct Finding: Equatable, CustomStringConvertible {
    let file: String
    let line: Int
    let rule: String
    let remedy: String

    var description: String { "\(file):\(line): \(rule): \(remedy)" }
}
