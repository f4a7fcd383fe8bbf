//! `App`: an agent made of skills, run with everything that `monas` has. Programs with skills of their own build one.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use access::Secrets;
use agent::{Agent, CreateError, Hook, Manifest, Options};
use dial::Dialer;
use model::Model;
use skill::{DefinitionError, Registry, Skill};

use crate::config::Config;
use crate::config::nearest::nearest;
use crate::error::Error;
use crate::program;
use crate::serve::{agents, models, tools};
use crate::testkit::Kit;

/// An app without skills. Add some and run it:
///
/// ```no_run
/// # use schemars::JsonSchema;
/// # use serde::Deserialize;
/// # use skill::{SkillError, SkillInput, skill};
/// #[derive(Deserialize, JsonSchema, SkillInput)]
/// struct City {
///     name: String,
/// }
///
/// /// Tells the weather of a city.
/// #[skill(tags = ["weather"], examples = ["What is the weather in Riga?"])]
/// async fn weather(city: City) -> Result<String, SkillError> {
///     Ok(format!("It rains in {}.", city.name))
/// }
///
/// fn main() -> std::process::ExitCode {
///     monas::app().skill(weather).run()
/// }
/// ```
pub fn app() -> App {
    App {
        manifest: None,
        options: Options::default(),
        answerer: None,
        has_law: false,
        helper: None,
        faulty: None,
    }
}

/// The objective of an agent without a manifest.
const OBJECTIVE: &str = "help callers, and remember what matters to them";

/// Makes the answerer of an agent with this manifest.
type Answering = fn(&Manifest) -> Arc<dyn a2a::server::Agent>;

/// An agent that is not yet started, and the program around it.
#[derive(Debug)]
pub struct App {
    manifest: Option<Manifest>,
    options: Options,
    /// Makes the answerer for messages that name no skill.
    answerer: Option<Answering>,
    has_law: bool,
    /// How this program enters a sandbox, if its `main` is ours; without it there is no skill that runs commands.
    helper: Option<PathBuf>,
    /// The first error in its skills; reported at the start.
    faulty: Option<DefinitionError>,
}

impl App {
    /// Sets the manifest, unless the configuration names one.
    pub fn manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = Some(manifest);
        self
    }

    pub fn skill<S: Skill>(self, skill: S) -> Self {
        self.change(|skills| skills.with(skill))
    }

    /// Adds all skills of a registry.
    pub fn skills(self, more: &Registry) -> Self {
        self.change(|skills| skills.merge(more))
    }

    /// Adds a hook, which sees every call of a skill and can refuse it.
    pub fn hook(mut self, hook: Arc<dyn Hook>) -> Self {
        self.options.hooks.push(hook);
        self
    }

    /// Sets the answerer: it gets every message that names no skill.
    pub fn answerer(mut self, answerer: Arc<dyn a2a::server::Agent>) -> Self {
        self.options.answerer = Some(answerer);
        self
    }

    /// As [`App::answerer`], made from the manifest, so that it can leave out the skills that the manifest leaves out.
    pub fn answerer_of(mut self, make: fn(&Manifest) -> Arc<dyn a2a::server::Agent>) -> Self {
        self.answerer = Some(make);
        self
    }

    /// Sets the language model, instead of that of the configuration.
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.options.model = Some(model);
        self
    }

    /// Gives the agent memory, a law, approvals, planning with a model or by rules, and explanations of what it did. Skills
    /// for files, memory and other agents are added to its own.
    pub fn alive(mut self) -> Self {
        self.has_law = true;
        self
    }

    /// Lets its agents run commands: `program` is this program, which [`App::run`] also runs as the helper of a sandbox.
    pub(crate) fn helper(mut self, program: Option<PathBuf>) -> Self {
        self.helper = program;
        self
    }

    /// Runs the command of the command line, as `monas` does; without a command it serves the agent.
    pub fn run(self) -> ExitCode {
        program::main(self)
    }

    /// Serves it in this process, on a free port and with data in memory, until [`Kit::stop`]: for tests, and for programs
    /// that call their own agent.
    pub async fn start(self) -> Result<Kit, Error> {
        self.start_with(&Kit::config()).await
    }

    /// As [`App::start`], with a configuration.
    pub async fn start_with(self, config: &Config) -> Result<Kit, Error> {
        Kit::with(config, self).await
    }

    /// The agent with the configuration's manifest and model, connected to its tool servers. Without the data of a server
    /// there are no secrets by name.
    pub async fn agent(self, config: &Config) -> Result<Agent, Error> {
        let first = self.plans(config, &Secrets::default())?.swap_remove(0);
        first.make().await
    }

    /// The agents to start, the one at the root first. The others are those of the configuration's folder of manifests,
    /// which choose from the same skills.
    pub(crate) fn plans(self, config: &Config, secrets: &Secrets) -> Result<Vec<Plan>, Error> {
        if let Some(fault) = self.faulty {
            return Err(agent::CreateError::from(fault).into());
        }
        let dialer = config.outbound.dialer()?;
        let mut options = self.options;
        if options.model.is_none() {
            options.model = models::model(&config.models, &dialer, secrets)?;
        }
        let manifest = match (&config.manifest, self.manifest) {
            (Some(path), _) => agents::manifest(path)?,
            (None, Some(manifest)) => manifest,
            (None, None) => {
                let mut manifest = Manifest::new(config.agent.name.clone());
                manifest.description.clone_from(&config.agent.description);
                env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
                manifest.objectives = vec![OBJECTIVE.to_owned()];
                manifest
            }
        };
        let answering = |manifest: &Manifest| {
            let mut options = options.clone();
            if let Some(make) = self.answerer {
                options.answerer = Some(make(manifest));
            }
            options
        };
        let place = config.manifest.clone();
        let mut plans = vec![Plan {
            id: None,
            place: place.unwrap_or_else(|| "the manifest".into()),
            options: answering(&manifest),
            manifest,
            more: config.mcp_config.clone(),
            helper: self.helper.clone(),
            dialer: dialer.clone(),
            secrets: secrets.clone(),
        }];
        let folder = config.agents.as_deref().map(agents::read).transpose()?;
        for (id, place, manifest) in folder.into_iter().flatten() {
            plans.push(Plan {
                id: Some(id),
                place,
                options: answering(&manifest),
                manifest,
                more: None,
                helper: self.helper.clone(),
                dialer: dialer.clone(),
                secrets: secrets.clone(),
            });
        }
        Ok(plans)
    }

    /// Whether [`App::alive`] was called.
    pub(crate) fn has_law(&self) -> bool {
        self.has_law
    }

    fn change(
        mut self,
        change: impl FnOnce(Registry) -> Result<Registry, DefinitionError>,
    ) -> Self {
        // Only the first error is reported; later ones may follow from it.
        match change(std::mem::take(&mut self.options.skills)) {
            Ok(skills) => self.options.skills = skills,
            Err(fault) => self.faulty = self.faulty.or(Some(fault)),
        }
        self
    }
}

/// The error text for a skill that does not exist.
fn no_skill(id: &str, known: &[String]) -> String {
    match nearest(id, known.iter().map(String::as_str)) {
        Some(meant) => format!("there is no skill {id:?}; did you mean {meant:?}?"),
        None => format!("there is no skill {id:?}; there are {}", known.join(", ")),
    }
}

/// An agent that is not yet started.
pub(crate) struct Plan {
    /// None for the agent at the root.
    pub(crate) id: Option<String>,
    /// The file of its manifest, for errors and relative paths.
    pub(crate) place: PathBuf,
    pub(crate) manifest: Manifest,
    /// A `mcp.json` with further tool servers.
    more: Option<PathBuf>,
    /// The program that enters a sandbox for its commands.
    pub(crate) helper: Option<PathBuf>,
    /// Makes the connections to its tool servers.
    dialer: Dialer,
    /// The secrets that its tool servers use.
    secrets: Secrets,
    pub(crate) options: Options,
}

impl Plan {
    /// Connects the tool servers that its manifest names, and adds their tools.
    pub(crate) async fn with_tools(mut self) -> Result<Self, Error> {
        let variable = |name: &str| std::env::var(name).ok();
        let more = self.more.as_deref();
        tools::add(
            &self.place,
            &self.manifest,
            more,
            &mut self.options,
            &self.dialer,
            &self.secrets,
            &variable,
        )
        .await?;
        Ok(self)
    }

    /// An error names the manifest, and the nearest skill for one that does not exist.
    pub(crate) fn create(self) -> Result<Agent, Error> {
        let known: Vec<String> = self.options.skills.iter().map(|it| it.id.clone()).collect();
        let place = self.place;
        let modes = self.manifest.modes.iter();
        let mut missing = modes.flat_map(|(name, mode)| {
            let skills = mode.skills.iter().flatten();
            skills.map(move |skill| (name, skill))
        });
        let tools = &self.options.tools;
        if let Some((mode, skill)) =
            missing.find(|(_, it)| !known.contains(it) && tools.get(it).is_none())
        {
            let problem = format!("modes.{mode}.skills: {}", no_skill(skill, &known));
            return Err(Error::Manifest {
                path: place,
                problem,
            });
        }
        Agent::create(self.manifest, self.options).map_err(|error| {
            let problem = match &error {
                CreateError::Skill(DefinitionError::Unknown(id)) => no_skill(id, &known),
                error => error.to_string(),
            };
            Error::Manifest {
                path: place,
                problem,
            }
        })
    }

    /// The agent with its tools, without memory and law.
    pub(crate) async fn make(self) -> Result<Agent, Error> {
        self.with_tools().await?.create()
    }
}
