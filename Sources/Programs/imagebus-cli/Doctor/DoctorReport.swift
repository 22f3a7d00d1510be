import CommandLineInterface
import Observability
import Reporting

/// What `imagebus doctor` prints.
struct DoctorReport: Encodable {
    let findings: [DoctorFinding]

    /// 0 where nothing is missing: what is short works.
    var exitStatus: Int32 { findings.contains { $0.state == .missing } ? Self.faultStatus : 0 }

    private static let faultStatus: Int32 = 1

    /// A line each, and below it what to do; with `columns` long ones are broken.
    func text(coloured: Bool, columns: Int? = nil) -> String {
        let width = (findings.map(\.name.count).max() ?? 0) + 2
        let lines = findings.map { finding in
            let state = HelpText.padded(finding.state.rawValue, to: Self.stateWidth)
            let painted = coloured ? Self.painted(state, finding.state) : state
            let name = HelpText.padded(finding.name, to: width)
            let blank = HelpText.padded("", to: Self.stateWidth + width)
            let room = columns.map { max(Self.roomMin, $0 - Self.stateWidth - width) }
            let says = Self.broken(finding.says, to: room, below: blank)
            let mend = finding.mend.map { text in
                let text = Self.broken(text, to: room.map { $0 - 3 }, below: blank + "   ")
                return "\(blank)-> \(text)\n"
            }
            return "\(painted)\(name)\(says)\n\(mend ?? "")"
        }
        return lines.joined() + "\(summary)\n"
    }

    private var summary: String {
        let missing = findings.count { $0.state == .missing }
        let short = findings.count { $0.state == .short }
        if missing == 0, short == 0 { return "all is ok" }
        return "\(missing) missing, \(short) short, of \(findings.count)"
    }

    /// Words on lines of so many columns.
    private static func broken(_ text: String, to columns: Int?, below blank: String) -> String {
        let text = PlainText.line(text)
        guard let columns else { return text }
        return HelpText.filled(text, to: columns).split(separator: "\n")
            .joined(separator: "\n\(blank)")
    }

    private static let stateWidth = 9
    private static let roomMin = 20

    private static func painted(_ text: String, _ state: DoctorFinding.State) -> String {
        let colour =
            switch state {
            case .ok: 32
            case .short: 33
            case .missing: 31
            }
        return "\u{1B}[\(colour)m\(text)\u{1B}[0m"
    }
}
